// Gives a float4 its values by the names of its members, which nvcc takes.
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float4 sum = {.x = 0.0f, .y = 0.0f, .z = 0.0f, .w = 0.0f};
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; k += 4) {
            sum.x += As[ty][k] * Bs[k][tx];
            sum.y += As[ty][k + 1] * Bs[k + 1][tx];
            sum.z += As[ty][k + 2] * Bs[k + 2][tx];
            sum.w += As[ty][k + 3] * Bs[k + 3][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum.x + sum.y + sum.z + sum.w;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
