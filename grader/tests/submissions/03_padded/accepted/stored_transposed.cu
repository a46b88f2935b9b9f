// The tile of B is turned round while it is stored; the padding repairs the stores, not the reads.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define TILE_SIZE 32

__global__ void matmul_padded(const float *__restrict__ A, const float *__restrict__ B,
                              float *__restrict__ C, int M, int N, int K) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bt[TILE_SIZE][TILE_SIZE + 1];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TILE_SIZE + ty;
    const int col0 = blockIdx.x * TILE_SIZE;
    float sum = 0.0f;
    for (int step = 0; step < (K + TILE_SIZE - 1) / TILE_SIZE; ++step) {
        const int k = step * TILE_SIZE + tx;
        As[ty][tx] = row < M && k < K ? A[row * K + k] : 0.0f;
        Bt[tx][ty] = col0 + ty < N && k < K ? B[(col0 + ty) * K + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i) sum += As[ty][i] * Bt[i][tx];
        __syncthreads();
    }
    if (row < M && col0 + tx < N) C[row * N + col0 + tx] = sum;
}

LAUNCH_CONFIG(.block_x = TILE_SIZE, .block_y = TILE_SIZE, .tile_m = TILE_SIZE,
              .tile_n = TILE_SIZE, .tile_k = TILE_SIZE);
