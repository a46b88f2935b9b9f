// Keeps the four sums of a thread in C, where each product is added to one.
// EXPECT verdict=too_much_traffic kind=output_traffic line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32, ROWS = 8;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_row = blockIdx.y * T, col = blockIdx.x * T + tx;
    for (int i = ty; i < T; i += ROWS) {
        if (first_row + i < M && col < N) C[(first_row + i) * N + col] = 0.0f;
    }
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = ty; i < T; i += ROWS) {
            const int row = first_row + i;
            As[i][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int i = ty; i < T && first_row + i < M && col < N; i += ROWS) {
            for (int k = 0; k < T; ++k) {
                C[(first_row + i) * N + col] += As[i][k] * Bs[k][tx];  // EXPECT-LINE
            }
        }
        __syncthreads();
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = ROWS, .tile_m = T, .tile_n = T, .tile_k = T);
