// Takes the order in which a thread loads its rows from a table in constant memory.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__constant__ int offset[4] = {0, 8, 4, 12};  // of the rows that a thread has, within the tile

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * T, col = blockIdx.x * T + tx;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = 0; i < 4; ++i) {
            const int y = ty + offset[i], row = row0 + y;
            As[y][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[y][tx] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < T; ++k) sum[i] += As[ty + offset[i]][k] * Bs[k][tx];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + offset[i];
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 4, .tile_m = T, .tile_n = T, .tile_k = T);
