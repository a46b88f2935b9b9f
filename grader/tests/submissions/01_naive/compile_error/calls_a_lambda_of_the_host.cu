// The index is worked out by a lambda outside the kernel, an object that only the host has.
// EXPECT verdict=compile_error kind=host_constant line=marked devices=simulator,gpu
#include "launch.cuh"

constexpr auto place = [](int row, int col, int width) { return row * width + col; };

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[place(row, col, N)] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
