// Begun from the file of exercise 02, whose kernel has another name.
// EXPECT verdict=missing_kernel kind=missing_kernel line=marked devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {  // EXPECT-LINE
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int row_of_b = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        int k = k0 + tx;
        As[ty][tx] = row < M && k < K ? A[row * K + k] : 0.0f;
        Bs[ty][tx] = row_of_b < N && k < K ? B[row_of_b * K + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[tx][i];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
