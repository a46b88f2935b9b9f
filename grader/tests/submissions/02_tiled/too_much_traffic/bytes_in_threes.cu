// Without tiles; the bytes of each element are copied in two overlapping threes.
// EXPECT verdict=too_much_traffic kind=too_much_traffic line=- devices=simulator
#include "launch.cuh"

#include <cstring>

constexpr int T = 16;

__device__ float element(const float *from) {
    float value;
    memcpy(&value, from, 3);
    memcpy((char *)&value + 1, (const char *)from + 1, 3);
    return value;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += element(&A[row * K + k]) * element(&B[k * N + col]);
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
