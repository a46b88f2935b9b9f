// Object-like macros M, N, K and TILE hold the tile sizes; the tiles are volatile.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#define TILE 16
#define M TILE
#define N TILE
#define K TILE
#include "launch.cuh"

__global__ void matmul_tiled(const float *A, const float *B, float *C,
                             int rows, int cols, int depth) {
    volatile __shared__ float As[M][K];
    volatile __shared__ float Bs[K][N];
    const int row = blockIdx.y * M + threadIdx.y;
    const int col = blockIdx.x * N + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < depth; k0 += K) {
        const int k_a = k0 + threadIdx.x, k_b = k0 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < rows && k_a < depth ? A[row * depth + k_a] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = k_b < depth && col < cols ? B[k_b * cols + col] : 0.0f;
        __syncthreads();
        const int steps = min(K, depth - k0);
        for (int k = 0; k < steps; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && col < cols) C[row * cols + col] = sum;
}

LAUNCH_CONFIG(.block_x = N, .block_y = M, .tile_m = M, .tile_n = N, .tile_k = K);
