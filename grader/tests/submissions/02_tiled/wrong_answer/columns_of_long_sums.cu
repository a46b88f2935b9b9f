// Long sums are summed in two levels, in which a thread takes the column of another.
// EXPECT verdict=wrong_answer kind=lines_repeated line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        if (K < 4096) {
            for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        } else {
            float part = 0.0f;
            for (int k = 0; k < T; ++k) part += As[ty][k] * Bs[k][tx & 7];
            sum += part;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
