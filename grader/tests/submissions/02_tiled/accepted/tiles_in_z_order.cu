// Every block walks along a Z order, so that at large shapes the last one has no tile left.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

__device__ int every_second_bit(unsigned v) {
    v &= 0x55555555u;
    v = (v | v >> 1) & 0x33333333u;
    v = (v | v >> 2) & 0x0f0f0f0fu;
    v = (v | v >> 4) & 0x00ff00ffu;
    return (v | v >> 8) & 0xffffu;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int across = (N + T - 1) / T, down = (M + T - 1) / T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    int side = 1;
    while (side < across || side < down) side *= 2;
    const long long count = (long long)side * side, blocks = (long long)gridDim.x * gridDim.y;
    for (long long z = blockIdx.y * gridDim.x + blockIdx.x; z < count; z += blocks) {
        const int x = every_second_bit(z), y = every_second_bit(z >> 1);
        if (x >= across || y >= down) continue;
        const int row = y * T + ty, col = x * T + tx;
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += T) {
            As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
