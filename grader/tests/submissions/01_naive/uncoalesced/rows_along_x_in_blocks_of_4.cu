// A block is four threads wide, and neighbouring ones are in neighbouring rows.
// EXPECT verdict=uncoalesced kind=uncoalesced line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 4;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.x, col = blockIdx.x * T + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
