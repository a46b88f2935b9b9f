// A block of one dimension, whose second size is left out.
// EXPECT verdict=bad_launch kind=not_positive line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 256, .tile_m = 1, .tile_n = 256);  // EXPECT-LINE
