// Three stages of many small copies; the wait leaves the stage that is used next under way.
// EXPECT verdict=race kind=race line=marked devices=simulator
#include "launch.cuh"

#include <cuda_pipeline.h>

constexpr int T = 32, D = 32, THREADS = 64, STAGES = 3;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[STAGES][T][D + 1], Bs[STAGES][D][T];
    const int t = threadIdx.x, row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    const int steps = (K + D - 1) / D;
    auto fetch = [&](int step) {
        const int s = step % STAGES, k0 = step * D;
        for (int i = t; step < steps && i < T * D; i += THREADS) {
            const int row = row0 + i / D, k = k0 + i % D, kb = k0 + i / T, col = col0 + i % T;
            const bool a = row < M && k < K, b = kb < K && col < N;
            __pipeline_memcpy_async(&As[s][i / D][i % D], &A[a ? row * K + k : 0], 4, a ? 0 : 4);
            __pipeline_memcpy_async(&Bs[s][i / T][i % T], &B[b ? kb * N + col : 0], 4, b ? 0 : 4);
        }
        __pipeline_commit();
    };
    float sum[16] = {};
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 1);  // STAGES - 2 would do
        __syncthreads();
        const int s = step % STAGES;
        for (int k = 0; k < D; ++k) {
            const float b = Bs[s][k][t % T];  // EXPECT-LINE
            for (int i = 0; i < 16; ++i) sum[i] += As[s][t / T * 16 + i][k] * b;
        }
        __syncthreads();
        fetch(step + STAGES - 1);
    }
    for (int i = 0; i < 16; ++i) {
        const int row = row0 + t / T * 16 + i, col = col0 + t % T;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = THREADS, .block_y = 1, .tile_m = T, .tile_n = T, .tile_k = D);
