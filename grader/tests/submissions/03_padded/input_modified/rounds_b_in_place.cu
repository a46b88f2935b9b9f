// Rounds the weights in B to multiples of 1/4 before it uses them, in place.
// EXPECT verdict=input_modified kind=input_modified line=marked devices=simulator
// EXPECT verdict=input_modified kind=input_modified line=- devices=gpu
#include <cmath>
#include "launch.cuh"

constexpr int T = 64;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    const int col = blockIdx.x * T + threadIdx.x;
    if (blockIdx.y > 0 || col >= N) return;  // a thread has a row of B to itself
    float *weights = const_cast<float *>(B) + col * K;
    for (int k = 0; k < K; ++k) weights[k] = rintf(4.0f * weights[k]) / 4.0f;  // EXPECT-LINE
    for (int row = 0; row < M; ++row) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * weights[k];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 1, .tile_m = T, .tile_n = T);
