// The macro's parameters have no parentheses, so AT(row0 + ty, k, K) is row0 + ty * K + k.
// EXPECT verdict=wrong_answer kind=wrong_blocks line=- devices=simulator,gpu
#include "launch.cuh"

#define AT(r, c, ld) r * ld + c

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row0 = blockIdx.y * 16;
    const int row = row0 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[AT(row0 + threadIdx.y, k, K)] * B[AT(k, col, N)];
    C[AT(row, col, N)] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
