// The tile size is a template parameter of a __device__ function that the kernel calls.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

template <int TILE>
__device__ float element(const float *A, const float *B, int row, int col, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int ty = threadIdx.y, tx = threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    return sum;
}

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + threadIdx.x;
    const float sum = element<T>(A, B, row, col, M, N, K);
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
