// Clears its element of C and adds each product to it, without a sum of its own.
// EXPECT verdict=too_much_traffic kind=output_traffic line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    C[row * N + col] = 0.0f;
    for (int k = 0; k < K; ++k) {
        C[row * N + col] += A[row * K + k] * B[k * N + col];  // EXPECT-LINE
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
