// Lanes meet on different rows of B; coalesced reads without use make their share of sectors small.
// EXPECT verdict=uncoalesced kind=uncoalesced line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    const volatile float *again = B;
    float sum = 0.0f, unused = 0.0f;
    for (int i = 0; i < K; ++i) {
        const int k = (i + threadIdx.x) % K;
        sum += A[row * K + k] * B[k * N + col];  // EXPECT-LINE
        for (int e = 0; e < 16; ++e) unused += again[i * N + col];
    }
    C[row * N + col] = unused == 1.5e30f ? unused : sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 32, .tile_m = 32, .tile_n = 32);
