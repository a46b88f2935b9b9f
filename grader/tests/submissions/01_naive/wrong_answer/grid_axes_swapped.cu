// Takes the row from blockIdx.x and the column from blockIdx.y: square matrices hide it.
// EXPECT verdict=wrong_answer kind=axes_swapped line=- devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.x * 16 + threadIdx.y;
    const int col = blockIdx.y * 16 + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
