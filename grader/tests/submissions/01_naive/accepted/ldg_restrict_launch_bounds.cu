// Read-only loads with __ldg, __restrict__ pointers, __launch_bounds__ and a fused multiply-add.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cmath>
#include "launch.cuh"

#define BLOCK 32

__global__ void __launch_bounds__(BLOCK * BLOCK)
matmul_naive(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
             int M, int N, int K) {
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
#pragma unroll 4
    for (int k = 0; k < K; ++k) sum = fmaf(__ldg(&A[row * K + k]), __ldg(&B[k * N + col]), sum);
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = BLOCK, .block_y = BLOCK, .tile_m = BLOCK, .tile_n = BLOCK);
