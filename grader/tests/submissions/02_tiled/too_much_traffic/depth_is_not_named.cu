// Loads elements again in a last step that reaches past K, whose depth no tile_k names.
// EXPECT verdict=too_much_traffic kind=unnamed_depth line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32, DEPTH = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][DEPTH], Bs[DEPTH][T];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * T + tx;
    const int col = min(blockIdx.x * T + tx, N - 1), first_row = blockIdx.y * T;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < T * DEPTH; i += 8 * T) {
            const int k = k0 + i % DEPTH, row = min(first_row + i / DEPTH, M - 1);
            const float counts = k < K ? 1.0f : 0.0f;
            As[i / DEPTH][i % DEPTH] = counts * A[row * K + min(k, K - 1)];
        }
        for (int i = ty; i < DEPTH; i += 8) {
            const float counts = k0 + i < K ? 1.0f : 0.0f;
            Bs[i][tx] = counts * B[min(k0 + i, K - 1) * N + col];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            for (int i = 0; i < 4; ++i) sum[i] += As[ty + 8 * i][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = first_row + ty + 8 * i;
        if (row < M && blockIdx.x * T + tx < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = T, .tile_n = T);  // EXPECT-LINE
