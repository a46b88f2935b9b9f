// The length of a thread's array is only known at run time.
// EXPECT verdict=compile_error kind=compile_error line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float products[K];  // EXPECT-LINE
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) products[k] = A[row * K + k] * B[k * N + col];
    for (int k = 0; k < K; ++k) sum += products[k];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
