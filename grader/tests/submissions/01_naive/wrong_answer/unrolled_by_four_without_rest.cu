// Four terms a turn; the one to three terms that may be left are never added.
// EXPECT verdict=wrong_answer kind=all_zero line=- devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    const float *a = A + row * K;
    const float *b = B + col;
    float sum = 0.0f;
    for (int k = 0; k + 3 < K; k += 4) {
        sum += a[k] * b[k * N];
        sum += a[k + 1] * b[(k + 1) * N];
        sum += a[k + 2] * b[(k + 2) * N];
        sum += a[k + 3] * b[(k + 3) * N];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
