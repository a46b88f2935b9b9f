// The first thread of a block sets a factor for all, but each thread has a variable of its own.
// EXPECT verdict=uninitialised kind=unset_variable line=- devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    float factor;
    if (threadIdx.x == 0 && threadIdx.y == 0) factor = 1.0f;
    __syncthreads();
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = factor * sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
