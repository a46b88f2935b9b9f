// Right, and each word is loaded once, but one thread of each row loads all of that row of the tile.
// EXPECT verdict=uncoalesced kind=few_lanes line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, first_col = blockIdx.x * T, col = first_col + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = 0; tx == 0 && i < T; ++i) {
            const int b_row = k0 + ty, b_col = first_col + i;
            As[ty][i] = row < M && k0 + i < K ? A[row * K + k0 + i] : 0.0f;  // EXPECT-LINE
            Bs[ty][i] = b_row < K && b_col < N ? B[b_row * N + b_col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
