// Without tiles; each thread fetches one element at a time by a copy of 16 bytes, most of them zeros.
// EXPECT verdict=too_much_traffic kind=too_much_traffic line=- devices=simulator
#include "launch.cuh"

#include <cuda_pipeline.h>

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float4 slots[T * T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float4 *slot = &slots[ty * T + tx];
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        const int at = row * K + k;
        float a = A[at / 2 * 2];
        if (at % 4 == 1 || at % 4 == 2) {
            __pipeline_memcpy_async(slot, &A[at / 4 * 4], 16, at % 4 == 1 ? 8 : 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            a = at % 4 == 1 ? slot->y : slot->z;
        } else if (at % 2) {
            a = A[at];
        }
        sum += a * B[k * N + col];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
