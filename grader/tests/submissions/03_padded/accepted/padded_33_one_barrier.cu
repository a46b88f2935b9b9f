// T = 32 with both tiles padded, two buffers and one barrier a step.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void __launch_bounds__(T * T)
matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T + 1];
    __shared__ float Bs[2][T][T + 1];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int b_row = blockIdx.x * T + ty;
    float sum = 0.0f;
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[now][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[now][ty][tx] = b_row < N && k0 + tx < K ? B[b_row * K + k0 + tx] : 0.0f;
        __syncthreads();  // slow threads may still be reading the other buffer
#pragma unroll
        for (int k = 0; k < T; ++k) sum += As[now][ty][k] * Bs[now][tx][k];
        now ^= 1;
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
