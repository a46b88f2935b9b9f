// Guards the first of its four rows and stores all four.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
// EXPECT verdict=out_of_bounds kind=guard_written line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * T, col = blockIdx.x * T + tx;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int y = ty; y < T; y += 8) {
            As[y][tx] = row0 + y < M && k0 + tx < K ? A[(row0 + y) * K + k0 + tx] : 0.0f;
            Bs[y][tx] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < 4; ++i) sum[i] += As[4 * ty + i][k] * Bs[k][tx];
        __syncthreads();
    }
    const int row = row0 + 4 * ty;
    if (row < M && col < N) {
        for (int i = 0; i < 4; ++i) {
            C[(row + i) * N + col] = sum[i];  // EXPECT-LINE
        }
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = T, .tile_n = T, .tile_k = T);
