// Waits at a cuda::barrier in shared memory instead of __syncthreads.
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include <cuda/barrier>
#include "launch.cuh"

#define T 16

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    const int ty = threadIdx.y, tx = threadIdx.x;
    if (ty == 0 && tx == 0) init(&barrier, T * T);
    __syncthreads();
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        barrier.arrive_and_wait();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        barrier.arrive_and_wait();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
