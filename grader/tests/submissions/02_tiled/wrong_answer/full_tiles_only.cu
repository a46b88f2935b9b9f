// Blocks that do not hold a full tile of C leave at once: the tails are never computed.
// EXPECT verdict=wrong_answer kind=nothing_written line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    if (row0 + T > M || col0 + T > N) return;  // the whole block leaves
    const int ty = threadIdx.y, tx = threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = k0 + tx < K ? A[(row0 + ty) * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K ? B[(k0 + ty) * N + col0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[(row0 + ty) * N + col0 + tx] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
