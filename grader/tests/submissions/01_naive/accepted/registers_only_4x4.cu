// Sixteen elements a thread, straight from global memory; neighbouring lanes stay neighbours.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int THREADS = 16;
constexpr int EACH = 4;
constexpr int TILE = THREADS * EACH;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row0 = blockIdx.y * TILE + threadIdx.y;
    const int col0 = blockIdx.x * TILE + threadIdx.x;
    float sum[EACH][EACH] = {};
    for (int k = 0; k < K; ++k) {
        float a[EACH], b[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int row = row0 + i * THREADS;
            const int col = col0 + i * THREADS;
            a[i] = row < M ? A[row * K + k] : 0.0f;
            b[i] = col < N ? B[k * N + col] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i)
#pragma unroll
            for (int j = 0; j < EACH; ++j) sum[i][j] += a[i] * b[j];
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int row = row0 + i * THREADS;
            const int col = col0 + j * THREADS;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = THREADS, .block_y = THREADS, .tile_m = TILE, .tile_n = TILE);
