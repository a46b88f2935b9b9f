// Gives up with __trap() where K is not a multiple of the strip.
// EXPECT verdict=crash kind=trap line=marked devices=simulator
// EXPECT verdict=crash kind=trap line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    if (K % 4 != 0) __trap();  // EXPECT-LINE
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 4)
        for (int k = k0; k < k0 + 4; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
