// 2,000 threads in a block; a GPU allows 1,024.
// EXPECT verdict=bad_launch kind=block_too_wide line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 2000, .block_y = 1, .tile_m = 1, .tile_n = 2000);  // EXPECT-LINE
