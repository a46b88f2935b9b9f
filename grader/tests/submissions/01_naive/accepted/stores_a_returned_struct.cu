// A function returns a struct, which goes straight to C; the same thread reads it there again.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

struct Element {
    float value[1];
};

__noinline__ __device__ Element dot(const float *a, const float *b, int N, int K) {
    Element sum = {};
    for (int k = 0; k < K; ++k) sum.value[0] += a[k] * b[k * N];
    return sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    ((Element *)C)[row * N + col] = dot(A + row * K, B + col, N, K);
    if (C[row * N + col] == 0.0f) C[row * N + col] = 0.0f;  // no -0
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
