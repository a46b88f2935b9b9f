// Sums by recursion in steps of two: an odd K is never met, so it never ends.
// EXPECT verdict=crash kind=stack_overflow line=- devices=simulator,gpu
#include "launch.cuh"

__device__ float term(const float *a, const float *b, int k, int K, int N) {
    return k < K ? a[k] * b[k * N] : 0.0f;
}

__device__ __noinline__ float dot(const float *a, const float *b, int k, int K, int N) {
    if (k == K) return 0.0f;
    const float two = term(a, b, k, K, N) + term(a, b, k + 1, K, N);
    return two + dot(a, b, k + 2, K, N);
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = dot(A + row * K, B + col, 0, K, N);
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
