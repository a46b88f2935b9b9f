// Asks for the versions of CUDA, of the architecture and of C++, and has a tile with a default.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#ifndef TILED_CU
#define TILED_CU
#include "launch.cuh"

#if __CUDACC_VER_MAJOR__ < 11 || CUDART_VERSION < 11000
#error "this kernel needs CUDA 11"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 500
#error "this kernel needs a newer GPU"
#endif
#if !defined(__CUDACC__) || !defined(__NVCC__) || __cplusplus < 201703L
#error "this is a file for nvcc"
#endif
#ifndef TILE
#define TILE 16
#endif
#ifdef __GNUC__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        UNROLL for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
#ifdef DEBUG
    printf("%d %d: %g\n", row, col, sum);
#endif
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
#endif
