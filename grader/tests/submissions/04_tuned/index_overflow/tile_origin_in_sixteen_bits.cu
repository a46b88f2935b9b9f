// Each thread has 2 x 2 outputs; the first row and column of the block's tile are kept in 16 bits.
// EXPECT verdict=index_overflow kind=tile_missed line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32, K_STEP = 16, HALF = T / 2;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][K_STEP + 1], Bs[K_STEP][T];
    const unsigned short row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    float sum[2][2] = {};
    for (int k0 = 0; k0 < K; k0 += K_STEP) {
        for (int i = 0; i < T; i += HALF) {
            const int row = row0 + ty + i, col = col0 + tx + i;
            As[ty + i][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[ty][tx + i] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < K_STEP; ++k) {
            const float b[2] = {Bs[k][tx], Bs[k][tx + HALF]};
            for (int i = 0; i < 2; ++i) {
                const float a = As[ty + i * HALF][k];
                for (int j = 0; j < 2; ++j) sum[i][j] += a * b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + ty + i * HALF, col = col0 + tx + j * HALF;
            if (row < M && col < N) C[row * N + col] = sum[i][j];  // EXPECT-LINE
        }
    }
}

LAUNCH_CONFIG(.block_x = HALF, .block_y = HALF, .tile_m = T, .tile_n = T, .tile_k = K_STEP);
