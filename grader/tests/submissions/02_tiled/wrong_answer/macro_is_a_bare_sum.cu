// TILE is 8 + 8 without parentheses, so step * TILE is step * 8 + 8.
// EXPECT verdict=wrong_answer kind=k_starts_late line=- devices=simulator,gpu
#include "launch.cuh"

#define HALF 8
#define TILE HALF + HALF

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * blockDim.y + ty, col = blockIdx.x * blockDim.x + tx;
    const int steps = (K + 15) / 16;
    float sum = 0.0f;
    for (int step = 0; step < steps; ++step) {
        const int k0 = step * TILE;
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
