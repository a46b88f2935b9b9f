// Element access through lambdas, K in strips whose length comes from min().
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int STRIP = 64;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    auto a = [=](int r, int k) { return A[r * K + k]; };
    auto b = [=](int k, int c) { return B[k * N + c]; };
    auto store = [&](int r, int c, float value) { C[r * N + c] = value; };

    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += STRIP) {
        const int end = min(k0 + STRIP, K);
        for (int k = k0; k < end; ++k) sum += a(row, k) * b(k, col);
    }
    store(row, col, sum);
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
