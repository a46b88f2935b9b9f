// Promises blocks of 64 threads at most, through a constant, and asks for 256.
// EXPECT verdict=bad_launch kind=launch_bounds line=marked devices=simulator,gpu
#include "launch.cuh"

#define BLOCK 16
constexpr int most_threads = BLOCK * BLOCK / 4;

__global__ void __launch_bounds__(256) unused(float *C) { C[0] = 0.0f; }

__global__ void
__launch_bounds__(most_threads, 2)  // EXPECT-LINE
matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * BLOCK + threadIdx.y, col = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = BLOCK, .block_y = BLOCK, .tile_m = BLOCK, .tile_n = BLOCK);
