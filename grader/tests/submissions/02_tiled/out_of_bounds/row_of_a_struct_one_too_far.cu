// Keeps a row of the tile in a struct of its own, and fills it one word too far.
// EXPECT verdict=out_of_bounds kind=register_array line=marked devices=simulator
#include "launch.cuh"

constexpr int TILE = 16;

struct Row {
    float v[TILE];
};

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        Row mine;
        for (int k = 0; k <= TILE; ++k) {
            mine.v[k] = As[ty][k % TILE];  // EXPECT-LINE
        }
        for (int k = 0; k < TILE; ++k) sum += mine.v[k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
