// Each step loads the next tile, also the last one: there a clamped index loads K's end again.
// EXPECT verdict=too_much_traffic kind=one_step_more line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int r = min(row, M - 1), c = min(col, N - 1);
    float sum = 0.0f, a = A[r * K + min(tx, K - 1)], b = B[min(ty, K - 1) * N + c];
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = k0 + tx < K ? a : 0.0f;
        Bs[ty][tx] = k0 + ty < K ? b : 0.0f;
        __syncthreads();
        a = A[r * K + min(k0 + T + tx, K - 1)];  // EXPECT-LINE
        b = B[min(k0 + T + ty, K - 1) * N + c];
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
