// The barrier comes, but nobody waits for the asynchronous copies before the tile is used.
// EXPECT verdict=race kind=race line=marked devices=simulator
#include "launch.cuh"

#include <cuda_pipeline.h>

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = Bs[ty][tx] = 0.0f;
        if (row < M && k0 + tx < K) __pipeline_memcpy_async(&As[ty][tx], &A[row * K + k0 + tx], 4);
        if (k0 + ty < K && col < N) __pipeline_memcpy_async(&Bs[ty][tx], &B[(k0 + ty) * N + col], 4);
        __pipeline_commit();
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];  // EXPECT-LINE
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
