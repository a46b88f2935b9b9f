// Adds every term to C in memory and never sets C to zero first.
// EXPECT verdict=uninitialised kind=unset_output line=marked devices=simulator
// EXPECT verdict=wrong_answer kind=accumulates_into_c line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; ++k) C[row * N + col] += A[row * K + k] * B[k * N + col];  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
