// Lanes store down the columns of C, what a function returns as a struct.
// EXPECT verdict=uncoalesced kind=uncoalesced line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
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
    const int row = blockIdx.y * 16 + threadIdx.x, col = blockIdx.x * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    ((Element *)C)[row * N + col] = dot(A + row * K, B + col, N, K);  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
