// The tiles are cleared once; in the last step the words past K still hold the step before.
// EXPECT verdict=wrong_answer kind=k_tail_stale line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int row_of_b = blockIdx.x * T + ty;
    float sum = 0.0f;
    As[ty][tx] = Bs[ty][tx] = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        int k = k0 + tx;
        if (row < M && k < K) As[ty][tx] = A[row * K + k];
        if (row_of_b < N && k < K) Bs[ty][tx] = B[row_of_b * K + k];
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[tx][i];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
