// Claims tiles of 32 rows but computes 16: half of the block rows are never launched.
// EXPECT verdict=wrong_answer kind=unwritten_parts line=- devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 16, .tile_m = 32, .tile_n = 32);
