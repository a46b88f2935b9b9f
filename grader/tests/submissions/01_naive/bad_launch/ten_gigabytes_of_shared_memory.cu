// Asks for ten gigabytes of shared memory.
// EXPECT verdict=bad_launch kind=too_much_static_shared line=- devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    __shared__ float big[2500000000];
    big[threadIdx.x] = 1.0f;
    if (big[threadIdx.x] == 2.0f) return;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
