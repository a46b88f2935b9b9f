// std::swap has no device version in C++17.
// EXPECT verdict=compile_error kind=host_swap line=marked devices=simulator,gpu
#include <utility>
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int now = 0, next = 1;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[now][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[now][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[now][ty][k] * Bs[now][k][tx];
        std::swap(now, next);  // EXPECT-LINE
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
