// Right, with whole tiles in shared memory, but neighbouring lanes load down a column.
// EXPECT verdict=uncoalesced kind=uncoalesced line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T + 1], Bs[T][T + 1];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const int a_row = blockIdx.y * T + tx, b_col = blockIdx.x * T + ty;
        As[tx][ty] = a_row < M && k0 + ty < K ? A[a_row * K + k0 + ty] : 0.0f;  // EXPECT-LINE
        Bs[tx][ty] = k0 + tx < K && b_col < N ? B[(k0 + tx) * N + b_col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
