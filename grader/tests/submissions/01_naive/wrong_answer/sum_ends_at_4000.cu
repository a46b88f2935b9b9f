// The sum ends at k = 4000, the largest K of an earlier data set.
// EXPECT verdict=wrong_answer kind=k_stops_early line=- devices=simulator,gpu
#include "launch.cuh"

#define MAX_K 4000

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < min(K, MAX_K); ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
