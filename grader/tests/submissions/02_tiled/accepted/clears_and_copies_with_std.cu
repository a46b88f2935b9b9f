// Clears its tiles with std::memset and copies a row of one with std::memcpy before it is used.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#include <cstring>

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        std::memset(&As[ty][tx], 0, sizeof(float));
        std::memset(&Bs[ty][tx], 0, sizeof(float));
        if (row < M && k0 + tx < K) As[ty][tx] = A[row * K + k0 + tx];
        if (k0 + ty < K && col < N) Bs[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        float own[T];
        std::memcpy(own, As[ty], sizeof own);
        for (int k = 0; k < T; ++k) sum += own[k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
