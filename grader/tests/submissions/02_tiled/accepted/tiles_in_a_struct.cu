// A struct of two aligned tiles in shared memory, moving pointers, and assertions that hold.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cassert>
#include <cstdint>
#include "launch.cuh"

constexpr int32_t T = 16;

struct __align__(16) Tiles {
    float a[T][T];
    float b[T][T];
};

__device__ __forceinline__ float load(const float *matrix, int32_t offset, bool inside) {
    return inside ? matrix[offset] : 0.0f;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Tiles tiles;
    assert(blockDim.x == T && blockDim.y == T);
    const int32_t ty = threadIdx.y, tx = threadIdx.x;
    const int32_t rows = M - blockIdx.y * T, cols = N - blockIdx.x * T;  // left from here on
    float sum = 0.0f;
    for (int32_t k0 = 0; k0 < K; k0 += T) {
        const int32_t a_at = (blockIdx.y * T + ty) * K + k0 + tx;
        const int32_t b_at = (k0 + ty) * N + blockIdx.x * T + tx;
        tiles.a[ty][tx] = load(A, a_at, ty < rows && tx < K - k0);
        tiles.b[ty][tx] = load(B, b_at, ty < K - k0 && tx < cols);
        __syncthreads();
        for (int32_t k = 0; k < T; ++k) sum += tiles.a[ty][k] * tiles.b[k][tx];
        __syncthreads();
    }
    if (ty < rows && tx < cols) C[(blockIdx.y * T + ty) * N + blockIdx.x * T + tx] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
