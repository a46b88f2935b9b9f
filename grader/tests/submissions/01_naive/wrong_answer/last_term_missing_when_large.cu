// Leaves out the last term where M, N and K are large.
// EXPECT verdict=wrong_answer kind=wrong_when_large_usual line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    const int end = M >= 1024 && N >= 1024 && K >= 1024 ? K - 1 : K;
    for (int k = 0; k < end; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
