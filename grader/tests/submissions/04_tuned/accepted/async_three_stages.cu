// A ring of three stages filled by asynchronous copies, 16 bytes each where the rows are aligned.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cuda_pipeline.h>
#include "launch.cuh"

constexpr int BM = 64, BN = 64, BK = 16, STAGES = 3;

struct alignas(16) Stage {
    float a[BM][BK + 4];
    float b[BK][BN];
};

// Copies four words of a rows x cols matrix into shared memory, zeros outside.
__device__ void copy4(float *to, const float *m, int row, int col, int rows, int cols) {
    const float *from = m + row * cols + col;
    if (row < rows && cols % 4 == 0 && col + 3 < cols) {
        __pipeline_memcpy_async(to, from, 16);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        if (row < rows && col + i < cols)
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = 0.0f;
    }
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Stage stages[STAGES];
    const int tid = threadIdx.x;
    const int tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int steps = (K + BK - 1) / BK;

    auto fetch = [&](int step) {
        if (step < steps) {
            Stage &s = stages[step % STAGES];
            const int k0 = step * BK;
            copy4(&s.a[tid / 4][tid % 4 * 4], A, row0 + tid / 4, k0 + tid % 4 * 4, M, K);
            copy4(&s.b[tid / 16][tid % 16 * 4], B, k0 + tid / 16, col0 + tid % 16 * 4, K, N);
        }
        __pipeline_commit();
    };

    float sum[4][4] = {};
    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        fetch(step + STAGES - 1);  // into the stage that everybody left before the barrier
        const Stage &s = stages[step % STAGES];
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 b = *reinterpret_cast<const float4 *>(&s.b[k][tx * 4]);
            for (int i = 0; i < 4; ++i) {
                const float a = s.a[ty + 16 * i][k];
                sum[i][0] += a * b.x;
                sum[i][1] += a * b.y;
                sum[i][2] += a * b.z;
                sum[i][3] += a * b.w;
            }
        }
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + ty + 16 * i, col = col0 + tx * 4 + j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = BM, .tile_n = BN, .tile_k = BK);
