// Every thread reads the words of all rows of the tile, and keeps the products of its own rows.
// EXPECT verdict=too_much_traffic kind=shared_wavefronts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32, ROWS = 8;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ volatile float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x, col = blockIdx.x * T + tx;
    float sum[T / ROWS] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = ty; i < T; i += ROWS) {
            const int row = blockIdx.y * T + i;
            As[i][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            for (int i = 0; i < T; ++i) {
                const float product = As[i][k] * Bs[k][tx];  // EXPECT-LINE
                if (i % ROWS == ty) sum[i / ROWS] += product;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < T / ROWS; ++i) {
        const int row = blockIdx.y * T + i * ROWS + ty;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = ROWS, .tile_m = T, .tile_n = T, .tile_k = T);
