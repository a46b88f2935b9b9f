// Neighbouring threads write neighbouring bytes, one bool is set to true by many, one short by one.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    __shared__ unsigned char inside[T][T];
    __shared__ bool ragged;
    __shared__ short depth;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    if (ty == 0 && tx == 0) {
        ragged = false;
        depth = T;
    }
    __syncthreads();
    if (row >= M || col >= N) ragged = true;
    for (int k0 = 0; k0 < K; k0 += T) {
        inside[ty][tx] = row < M && k0 + tx < K;
        __syncthreads();
        As[tx][ty] = 0.0f;
        __syncthreads();
        if (inside[ty][tx]) As[ty][tx] = A[row * K + k0 + tx];
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < depth; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (!ragged || (row < M && col < N)) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
