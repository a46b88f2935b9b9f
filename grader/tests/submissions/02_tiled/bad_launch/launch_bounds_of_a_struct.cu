// The bounds come from a template's constants, which were not doubled with the block.
// EXPECT verdict=bad_launch kind=launch_bounds line=marked devices=simulator,gpu
#include "launch.cuh"

template <int side> struct Config {
    static constexpr int tile = side;
    static constexpr int threads = side * side / 2;
};
using Chosen = Config<16>;
#define TILE Chosen::tile

template <int side> __device__ float dot(const float (&As)[side][side], const float (&Bs)[side][side]) {
    float sum = 0.0f;
    for (int k = 0; k < side; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    return sum;
}

__launch_bounds__(Chosen::threads) __global__ void  // EXPECT-LINE
matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        sum += dot(As, Bs);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
