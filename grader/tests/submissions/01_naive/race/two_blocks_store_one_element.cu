// Two blocks compute one half of K each for the same elements, and the later one wins.
// EXPECT verdict=race kind=two_writers line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x / 2 * T + threadIdx.x;
    if (row >= M || col >= N) return;
    const int half = blockIdx.x % 2, middle = (K + 1) / 2;
    float sum = 0.0f;
    for (int k = half * middle; k < (half ? K : middle); ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T / 2);
