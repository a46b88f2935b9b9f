// Right in each index, but a block is only four threads wide.
// EXPECT verdict=uncoalesced kind=ragged_rows line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 4;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
