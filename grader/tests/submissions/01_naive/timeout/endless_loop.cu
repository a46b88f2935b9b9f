// A while loop whose counter never moves; volatile, so that no compiler removes it.
// EXPECT verdict=timeout kind=timeout line=- devices=simulator
// EXPECT verdict=timeout kind=timeout_gpu line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    volatile int k = 0;
    while (k < K) {
        sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
