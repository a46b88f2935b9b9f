// A block's row is its number times a rounded reciprocal: too small where a row has 41 blocks.
// EXPECT verdict=wrong_answer kind=unwritten_blocks line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    int block_row = static_cast<int>(block * (1.0f / gridDim.x));
    int block_col = block - block_row * gridDim.x;
    int row = block_row * T + ty, col = block_col * T + tx;
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
