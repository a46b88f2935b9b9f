// Lanes inside C hand their words of A around, those that __activemask names; others are read.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32, R = 8;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[R][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * R + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const float mine = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        As[ty][tx] = mine;
        for (int i = ty; i < T; i += R) {
            Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
        }
        __syncthreads();
        if (col < N) {
            const unsigned int there = __activemask();
            for (int k = 0; k < T; ++k) {
                const float a = there >> k & 1u ? __shfl_sync(there, mine, k) : As[ty][k];
                sum += a * Bs[k][tx];
            }
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = R, .tile_m = R, .tile_n = T, .tile_k = T);
