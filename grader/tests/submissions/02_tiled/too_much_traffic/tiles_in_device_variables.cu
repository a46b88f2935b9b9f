// The tiles of each block lie in device variables, so every use reads global memory.
// EXPECT verdict=too_much_traffic kind=variable_traffic line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 16
#define SLOTS 256

__device__ float As[SLOTS][T][T], Bs[SLOTS][T][T];

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int slot = blockIdx.y * gridDim.x + blockIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    if (slot >= SLOTS) {
        for (int k = 0; row < M && col < N && k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    }
    for (int k0 = 0; slot < SLOTS && k0 < K; k0 += T) {
        As[slot][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[slot][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[slot][ty][k] * Bs[slot][k][tx];  // EXPECT-LINE
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
