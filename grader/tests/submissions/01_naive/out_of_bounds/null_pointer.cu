// Threads outside of C keep a null pointer and store through it all the same.
// EXPECT verdict=out_of_bounds kind=wild_access line=marked devices=simulator
// EXPECT verdict=out_of_bounds kind=illegal_address line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = row < M && col < N;
    volatile float *target = inside ? &C[row * N + col] : nullptr;
    float sum = 0.0f;
    for (int k = 0; inside && k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    *target = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
