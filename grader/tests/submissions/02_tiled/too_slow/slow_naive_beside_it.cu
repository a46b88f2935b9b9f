// The naive kernel, and beside it a naive kernel of its own that takes its time to look slow.
// EXPECT verdict=too_slow kind=too_slow line=- devices=gpu
// EXPECT verdict=too_much_traffic kind=- line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__device__ void multiply(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    for (int again = 0; again < 100; ++again) multiply(A, B, C, M, N, K);
}

// A grader that called its baseline by this name might take ours.
extern "C" __global__ void baseline(const float *A, const float *B, float *C, int M, int N, int K) {
    for (int again = 0; again < 100; ++again) multiply(A, B, C, M, N, K);
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    multiply(A, B, C, M, N, K);
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
