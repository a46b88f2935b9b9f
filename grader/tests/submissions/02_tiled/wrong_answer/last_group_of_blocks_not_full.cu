// Blocks are taken in groups of eight rows; the last group of a tall grid is taken for a full one.
// EXPECT verdict=wrong_answer kind=unwritten_blocks line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16, GROUP = 8;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    int block_row = blockIdx.y, block_col = blockIdx.x;
    if (gridDim.y > GROUP) {
        const int id = blockIdx.y * gridDim.x + blockIdx.x, per_group = GROUP * gridDim.x;
        block_row = id / per_group * GROUP + id % GROUP;
        block_col = id % per_group / GROUP;
    }
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = block_row * T + ty, col = block_col * T + tx;
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
