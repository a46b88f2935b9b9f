// Has a way for K = 2, which reads the second row of B as if it had one column.
// EXPECT verdict=wrong_answer kind=wrong_stride line=- devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    if (K == 2) {
        sum = A[row * 2] * B[col] + A[row * 2 + 1] * B[col + 1];
    } else {
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
