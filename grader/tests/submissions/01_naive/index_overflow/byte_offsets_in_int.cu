// Addresses A by a byte offset kept in an int, which overflows for matrices above 2 GB.
// EXPECT verdict=index_overflow kind=index_overflow line=marked devices=simulator
#include "launch.cuh"

__device__ float word_at(const float *base, int bytes) {
    return *reinterpret_cast<const float *>(reinterpret_cast<const char *>(base) + bytes);
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += word_at(A, 4 * (row * K + k)) * B[k * N + col];  // EXPECT-LINE
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
