// Asks for the bytes of one tile and uses two: the tile of B lies behind the memory of the block.
// EXPECT verdict=out_of_bounds kind=shared_access line=marked devices=simulator
#include "launch.cuh"

#define T 16

extern __shared__ float tiles[];

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    float *As = tiles, *Bs = tiles + T * T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty * T + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        const bool inside = k0 + ty < K && col < N;
        Bs[ty * T + tx] = inside ? B[(k0 + ty) * N + col] : 0.0f;  // EXPECT-LINE
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty * T + k] * Bs[k * T + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T,
              .dynamic_shared = T * T * sizeof(float));
