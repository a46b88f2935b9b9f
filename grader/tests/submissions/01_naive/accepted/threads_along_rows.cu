// Correct, but threadIdx.x walks down a column, so neighbouring lanes touch distant words.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
// efficient: no
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.x + threadIdx.x;
    const int col = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 32, .tile_n = 8);
