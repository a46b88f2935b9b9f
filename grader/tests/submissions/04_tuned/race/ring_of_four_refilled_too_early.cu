// Copies the step after the next two into the buffer that others still read: shown by a fifth step.
// EXPECT verdict=race kind=race line=marked devices=simulator
#include "launch.cuh"
#include <cuda_pipeline.h>

constexpr int T = 32, BUFFERS = 4;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BUFFERS][T][T], Bs[BUFFERS][T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int steps = (K + T - 1) / T;
    auto begin = [&](int step) {
        const int buffer = step % BUFFERS, k0 = step * T;
        const size_t no_a = row < M && k0 + tx < K ? 0 : 4, no_b = k0 + ty < K && col < N ? 0 : 4;
        const float *a = no_a ? A : &A[row * K + k0 + tx], *b = no_b ? B : &B[(k0 + ty) * N + col];
        if (step < steps) {
            __pipeline_memcpy_async(&As[buffer][ty][tx], a, 4, no_a);
            __pipeline_memcpy_async(&Bs[buffer][ty][tx], b, 4, no_b);
        }
        __pipeline_commit();
    };
    for (int step = 0; step < BUFFERS - 1; ++step) begin(step);
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
        begin(step + BUFFERS - 1);
        __pipeline_wait_prior(BUFFERS - 1);
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += As[step % BUFFERS][ty][k] * Bs[step % BUFFERS][k][tx];  // EXPECT-LINE
        }
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
