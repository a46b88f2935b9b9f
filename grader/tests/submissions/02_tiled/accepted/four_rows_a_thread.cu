// 32 x 8 threads on a 32 x 32 tile: four rows a thread, their offsets in __constant__ memory.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

__constant__ int row_of_slot[4] = {0, 8, 16, 24};

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x;
    const int col = blockIdx.x * T + tx;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int s = 0; s < 4; ++s) {
            const int y = threadIdx.y + row_of_slot[s];
            const int row = blockIdx.y * T + y;
            As[y][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[y][tx] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int s = 0; s < 4; ++s) sum[s] += As[threadIdx.y + row_of_slot[s]][k] * Bs[k][tx];
        __syncthreads();
    }
    for (int s = 0; s < 4; ++s) {
        const int row = blockIdx.y * T + threadIdx.y + row_of_slot[s];
        if (row < M && col < N) C[row * N + col] = sum[s];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T / 4, .tile_m = T, .tile_n = T, .tile_k = T);
