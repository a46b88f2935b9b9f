// The next tile travels by __pipeline_memcpy_async while the present one is used.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cuda_pipeline.h>
#include "launch.cuh"

constexpr int T = 32;

__device__ void fetch(float *to, const float *from, bool inside) {
    if (inside)
        __pipeline_memcpy_async(to, from, sizeof(float));
    else
        *to = 0.0f;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int steps = (K + T - 1) / T;

    auto fetch_step = [&](int step) {
        const int k0 = step * T;
        if (step < steps) {
            fetch(&As[step & 1][ty][tx], A + row * K + k0 + tx, row < M && k0 + tx < K);
            fetch(&Bs[step & 1][ty][tx], B + (k0 + ty) * N + col, k0 + ty < K && col < N);
        }
        __pipeline_commit();  // an empty group after the last step keeps the count simple
    };

    float sum = 0.0f;
    fetch_step(0);
    for (int step = 0; step < steps; ++step) {
        fetch_step(step + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[step & 1][ty][k] * Bs[step & 1][k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
