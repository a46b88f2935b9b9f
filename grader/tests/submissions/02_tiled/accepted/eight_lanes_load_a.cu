// The tile of A is 8 words wide, so that only 8 lanes of each warp load it.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int ROWS = 8, COLS = 32, DEPTH = 8;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[ROWS][DEPTH], Bs[DEPTH][COLS];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * ROWS + ty, col = blockIdx.x * COLS + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        if (tx < DEPTH) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = COLS, .block_y = ROWS, .tile_m = ROWS, .tile_n = COLS, .tile_k = DEPTH);
