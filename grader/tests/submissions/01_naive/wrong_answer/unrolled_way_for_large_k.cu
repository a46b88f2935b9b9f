// Adds eight terms at a time where K is large, and forgets the eighth.
// EXPECT verdict=wrong_answer kind=wrong_everywhere line=- devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    if (M >= 128 && K >= 128 && K % 32 == 0) {
        for (int k = 0; k < K; k += 8)
            for (int i = 0; i < 7; ++i) sum += A[row * K + k + i] * B[(k + i) * N + col];
    } else {
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
