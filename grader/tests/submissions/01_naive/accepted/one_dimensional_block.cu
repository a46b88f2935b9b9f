// A block of 256 threads in one row; each thread works out its row and column by division.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int ROWS = 8;
constexpr int COLS = 32;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * ROWS + threadIdx.x / COLS;
    const int col = blockIdx.x * COLS + threadIdx.x % COLS;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = ROWS * COLS, .block_y = 1, .tile_m = ROWS, .tile_n = COLS);
