// A block computes two tiles side by side; the sum of the second begins with that of the first.
// EXPECT verdict=wrong_answer kind=sum_carried_on line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty;
    float sum = 0.0f;
    for (int half = 0; half < 2; ++half) {
        const int col = (blockIdx.x * 2 + half) * T + tx;
        for (int k0 = 0; k0 < K; k0 += T) {
            As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = 2 * T, .tile_k = T);
