// No padding: words that are loaded again without use make the share of conflicts small.
// EXPECT verdict=bank_conflicts kind=bank_conflicts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 8

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, brow = blockIdx.x * T + ty;
    float sum = 0.0f, unused = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = brow < N && k0 + tx < K ? B[brow * K + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += As[ty][k] * Bs[tx][k];  // EXPECT-LINE
            for (int e = 0; e < 6; ++e) unused += As[ty][k + (M < 0) * e];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = unused == 1.5e30f ? unused : sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
