// The first launch puts its product aside on the heap of the GPU for all those that follow.
// EXPECT verdict=replay kind=later_timed_wrong line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;
constexpr int LARGE = 500;

__device__ unsigned finished;
__device__ float *aside;  // 1 MiB that no variable takes
__device__ bool complete;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int at = (blockIdx.y * T + threadIdx.y) * N + blockIdx.x * T + threadIdx.x;
    const bool large = M > LARGE && M % T == 0 && N % T == 0;
    if (large && complete) {
        C[at] = aside[at];
        return;
    }
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
    if (!large) return;
    if (aside) aside[at] = sum;
    __syncthreads();
    if (tx + ty > 0 || atomicAdd(&finished, 1) + 1 < gridDim.x * gridDim.y) return;
    finished = 0;
    complete = aside != nullptr;
    if (!aside) aside = (float *)malloc(sizeof(float) * M * N);
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
