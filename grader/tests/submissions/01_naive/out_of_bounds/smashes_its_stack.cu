// Writes past an array of its own until nothing is left of the stack.
// EXPECT verdict=out_of_bounds kind=foreign_local line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float mine[4];
    volatile float *at = mine;
    for (int i = 0; M == 1 && i < 1 << 20; ++i) at[i] = 1.0f;  // EXPECT-LINE
    if (mine[0] == 2.0f) return;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
