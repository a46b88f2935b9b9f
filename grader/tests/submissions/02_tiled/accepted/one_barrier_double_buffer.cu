// Two buffers in turn, so that one barrier a step is enough.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;
    const int steps = CEIL_DIV(K, TILE);

    auto load = [&](int step) {
        const int k0 = step * TILE;
        As[step % 2][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[step % 2][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };

    float sum = 0.0f;
    load(0);
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) load(step + 1);  // nobody reads that buffer before the barrier
        for (int k = 0; k < TILE; ++k) sum += As[step % 2][ty][k] * Bs[step % 2][k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
