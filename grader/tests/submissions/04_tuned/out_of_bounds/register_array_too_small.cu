// Eight sums a thread in an array of seven.
// EXPECT verdict=out_of_bounds kind=register_array line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32, BM = 64;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * T + tx;
    float sum[7] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int y = ty; y < BM; y += 8)
            As[y][tx] = row0 + y < M && k0 + tx < K ? A[(row0 + y) * K + k0 + tx] : 0.0f;
        for (int y = ty; y < T; y += 8)
            Bs[y][tx] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            for (int i = 0; i < 8; ++i) {
                sum[i] += As[ty + 8 * i][k] * Bs[k][tx];  // EXPECT-LINE
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = BM, .tile_n = T, .tile_k = T);
