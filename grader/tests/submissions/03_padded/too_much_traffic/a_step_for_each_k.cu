// A step along K for each k, not for each tile: most of them load nothing.
// EXPECT verdict=too_much_traffic kind=surplus_steps line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define TILE 16

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE + 1];
    __shared__ float Bs[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    int row_of_b = blockIdx.x * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int step = 0; step < K; ++step) {
        int k0 = step * TILE + threadIdx.x;
        As[threadIdx.y][threadIdx.x] = row < M && k0 < K ? A[row * K + k0] : 0.0f;  // EXPECT-LINE
        Bs[threadIdx.y][threadIdx.x] = row_of_b < N && k0 < K ? B[row_of_b * K + k0] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += As[threadIdx.y][k] * Bs[threadIdx.x][k];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
