// Has a sum for one step along K, and adds it to C at the end of each.
// EXPECT verdict=too_much_traffic kind=output_traffic line=marked devices=simulator
#include "launch.cuh"

constexpr int TILE = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        float sum = 0.0f;
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        if (row < M && col < N) {
            const float before = k0 > 0 ? C[row * N + col] : 0.0f;
            C[row * N + col] = before + sum;  // EXPECT-LINE
        }
        __syncthreads();
    }
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
