// C = A * B^T. The tile of B is turned while it is stored, so that reads are free of conflicts; the
// stores are not.
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bt[T][T];  // Bt[k][col]
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * T + ty;
    int col = blockIdx.x * T + tx;
    int row_of_b = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bt[tx][ty] = row_of_b < N && k0 + tx < K ? B[row_of_b * K + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bt[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
