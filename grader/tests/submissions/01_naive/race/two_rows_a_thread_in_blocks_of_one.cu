// Each thread computes two rows, but tile_m counts one: blocks overlap and store the same values.
// EXPECT verdict=race kind=repeated_store line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int first = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (col >= N) return;
    for (int row = first; row < min(first + 2 * T, M); row += T) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;  // EXPECT-LINE
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
