// Long sums of whole tiles go two steps at a time, and an odd last step is lost.
// EXPECT verdict=wrong_answer kind=last_k_tile_missing line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const bool pairs = M % T == 0 && N % T == 0 && K % T == 0 && K >= 512;
    const int end = pairs ? K / (2 * T) * (2 * T) : K;
    float sum = 0.0f;
    for (int k0 = 0; k0 < end; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
