// Only the blocks of the first row of the grid work: each takes the rows of C in turn.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    if (blockIdx.y > 0 || col >= N) return;
    for (int row = threadIdx.y; row < M; row += 8) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
