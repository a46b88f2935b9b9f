// A block is one warp, and a vote stands where __syncwarp belongs: lanes meet there, memory does not.
// EXPECT verdict=race kind=race line=marked devices=simulator
#include "launch.cuh"

constexpr int TM = 4, TN = 8, TK = 8;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TM][TK], Bs[TK][TN];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TM + ty, col = blockIdx.x * TN + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int k = ty; k < TK; k += TM) {
            Bs[k][tx] = k0 + k < K && col < N ? B[(k0 + k) * N + col] : 0.0f;
        }
        __any_sync(0xffffffffu, 0);
        for (int k = 0; k < TK; ++k) sum += As[ty][k] * Bs[k][tx];  // EXPECT-LINE
        __syncwarp();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TN, .block_y = TM, .tile_m = TM, .tile_n = TN, .tile_k = TK);
