// Writes to every page of the program it runs in.
// EXPECT verdict=out_of_bounds kind=wild_access line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    for (long long at = 0x400000; M == 1 && at < 0x800000; at += 4096) {
        *reinterpret_cast<int *>(at) = 7;  // EXPECT-LINE
    }
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
