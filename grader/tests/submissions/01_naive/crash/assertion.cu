// Asserts that every thread has an element, which ragged shapes deny.
// EXPECT verdict=crash kind=assertion line=marked devices=simulator
// EXPECT verdict=crash kind=assertion line=- devices=gpu
#include <cassert>
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    assert(row < M && col < N);  // EXPECT-LINE
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
