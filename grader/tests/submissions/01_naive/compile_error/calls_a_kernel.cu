// The sum is worked out by a second kernel, which the first one calls as if it were a function.
// EXPECT verdict=compile_error kind=kernel_called line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void element(const float *A, const float *B, float *C, int N, int K, int row, int col) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row < M && col < N) element(A, B, C, N, K, row, col);  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
