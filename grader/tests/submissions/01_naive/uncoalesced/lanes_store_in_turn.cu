// Threads run down the columns of C, and the lanes of a warp store one after the other.
// EXPECT verdict=uncoalesced kind=few_lanes line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 32 + threadIdx.x, col = blockIdx.x * 8 + threadIdx.y;
    const bool inside = row < M && col < N;
    float sum = 0.0f;
    for (int k = 0; inside && k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    for (int turn = 0; turn < 32; ++turn) {
        if (inside && threadIdx.x == turn) C[row * N + col] = sum;  // EXPECT-LINE
        __syncwarp();
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 32, .tile_n = 8);
