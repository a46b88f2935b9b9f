// The loop over k counts in a short, which turns negative after 32,767.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (short k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];  // EXPECT-LINE
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
