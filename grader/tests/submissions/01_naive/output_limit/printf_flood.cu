// Every thread prints every step: megabytes of output.
// EXPECT verdict=output_limit kind=output_limit line=- devices=simulator,gpu
#include <cstdio>
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
        printf("thread (%d, %d) step %d sum %f\n", threadIdx.x, threadIdx.y, k, sum);
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
