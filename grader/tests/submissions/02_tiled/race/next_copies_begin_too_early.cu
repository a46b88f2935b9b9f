// Two stages of asynchronous copies, and no barrier before those of the next step begin.
// EXPECT verdict=race kind=race line=marked devices=simulator
#include "launch.cuh"

#include <cuda_pipeline.h>

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    auto fetch = [&](int stage, int k0) {
        const int a = row < M && k0 + tx < K, b = k0 + ty < K && col < N;
        const float *a_from = a ? &A[row * K + k0 + tx] : A, *b_from = b ? &B[(k0 + ty) * N + col] : B;
        __pipeline_memcpy_async(&As[stage][ty][tx], a_from, 4, 4 - 4 * a);
        __pipeline_memcpy_async(&Bs[stage][ty][tx], b_from, 4, 4 - 4 * b);
        __pipeline_commit();
    };
    float sum = 0.0f;
    fetch(0, 0);
    for (int k0 = 0, stage = 0; k0 < K; k0 += T, stage ^= 1) {
        fetch(stage ^ 1, k0 + T);
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[stage][ty][k] * Bs[stage][k][tx];  // EXPECT-LINE
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
