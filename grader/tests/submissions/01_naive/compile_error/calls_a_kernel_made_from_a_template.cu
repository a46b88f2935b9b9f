// The kernel of the exercise calls a kernel with template parameters, which holds all the work.
// EXPECT verdict=compile_error kind=kernel_called line=marked devices=simulator,gpu
#include "launch.cuh"

template <int BLOCK>
__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * BLOCK + threadIdx.y, col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    matmul<16>(A, B, C, M, N, K);  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
