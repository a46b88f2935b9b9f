// Two blocks sum one half of K each for the same tile, and the later one wins.
// EXPECT verdict=race kind=two_writers line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y / 2 * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    const int half = (K + 2 * T - 1) / (2 * T) * T;  // whole steps
    const int begin = blockIdx.y % 2 * half, end = min(begin + half, K);
    for (int k0 = begin; k0 < end; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[i][tx];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T / 2, .tile_n = T, .tile_k = T);
