// Computes a column only where a whole tile of columns fits.
// EXPECT verdict=wrong_answer kind=nothing_written line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + threadIdx.x;
    if (row < M && col < N / T * T) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
