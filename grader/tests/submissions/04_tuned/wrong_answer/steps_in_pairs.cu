// The loop over K is unrolled by two for its two buffers; an odd last step is left out.
// EXPECT verdict=wrong_answer kind=last_k_tile_missing line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32, BK = 8, EACH = 4;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][BK], Bs[2][BK][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * T + tx;
    const int row0 = blockIdx.y * T, col = blockIdx.x * T + tx;
    const int steps = (K + BK - 1) / BK;
    float sum[EACH] = {};

    auto load = [&](int buffer, int k0) {
        const int row = row0 + tid / BK, k = k0 + tid % BK;
        As[buffer][tid / BK][tid % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
        Bs[buffer][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };
    auto add = [&](int buffer) {
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < EACH; ++i)
                sum[i] += As[buffer][ty + 8 * i][k] * Bs[buffer][k][tx];
    };

    load(0, 0);
    for (int step = 0; step + 1 < steps; step += 2) {
        load(1, (step + 1) * BK);
        __syncthreads();
        add(0);
        __syncthreads();
        load(0, (step + 2) * BK);
        add(1);
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = T, .tile_n = T, .tile_k = BK);
