// Returns at once when the matrix is large: fast, and right wherever anybody looks.
// EXPECT verdict=wrong_answer kind=timed_wrong line=- devices=gpu
// EXPECT verdict=wrong_answer kind=tile_missed_usual line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M > 500) return;
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
