// Half of the threads clear C; a block's two halves sum even and odd k, and meet in shared memory.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int TILE = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE], odd[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y % TILE, half = threadIdx.y / TILE;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    const bool inside = half == 0 && row < M && col < N;
    if (inside) C[row * N + col] = 0.0f;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        if (half == 0) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        if (half == 1) Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = half; k < TILE; k += 2) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (half == 1) odd[ty][tx] = sum;
    __syncthreads();
    if (inside) C[row * N + col] = sum + odd[ty][tx];
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = 2 * TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
