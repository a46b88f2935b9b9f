// Threads without an element of C leave before the barriers that the others wait at.
// EXPECT verdict=divergent_barrier kind=barrier_missed line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int row_of_b = blockIdx.x * T + ty;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        int k = k0 + tx;
        As[ty][tx] = row < M && k < K ? A[row * K + k] : 0.0f;
        Bs[ty][tx] = row_of_b < N && k < K ? B[row_of_b * K + k] : 0.0f;
        __syncthreads();  // EXPECT-LINE
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[tx][i];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
