// Threads outside C return before the barriers that the others wait at.
// EXPECT verdict=divergent_barrier kind=barrier_missed line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();  // EXPECT-LINE
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
