// Padded tiles of 128 x 64 as static arrays: 66,560 bytes, where 49,152 are allowed.
// EXPECT verdict=bad_launch kind=too_much_static_shared line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 128, BK = 64;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][BK + 1], Bs[T][BK + 1];
    const int tid = threadIdx.x;
    const int ty = tid / 32, tx = tid % 32;
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    float sum[16][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < T * BK; i += 256) {
            const int r = i / BK, k = i % BK;
            As[r][k] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : 0.0f;
            Bs[r][k] = col0 + r < N && k0 + k < K ? B[(col0 + r) * K + k0 + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 16; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += As[ty + 8 * i][k] * Bs[tx + 32 * j][k];
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 4; ++j)
            if (row0 + ty + 8 * i < M && col0 + tx + 32 * j < N)
                C[(row0 + ty + 8 * i) * N + col0 + tx + 32 * j] = sum[i][j];
}

LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = T, .tile_n = T, .tile_k = BK);
