// The last blocks move up and to the left instead of running past the edge, and store some values twice.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row0 = max(min(static_cast<int>(blockIdx.y) * T, M - T), 0);
    const int col0 = max(min(static_cast<int>(blockIdx.x) * T, N - T), 0);
    const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
