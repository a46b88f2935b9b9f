// Each thread should do two columns, 16 apart, but stores only the first one.
// EXPECT verdict=wrong_answer kind=unwritten_places line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 16, BN = 32, BK = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * BM + ty, col0 = blockIdx.x * BN;
    float sum[2] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int x = tx; x < BN; x += 16)
            Bs[ty][x] = k0 + ty < K && col0 + x < N ? B[(k0 + ty) * N + col0 + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int j = 0; j < 2; ++j) sum[j] += As[ty][k] * Bs[k][tx + 16 * j];
        __syncthreads();
    }
    const int col = col0 + tx;
    if (row < M && col < N) C[row * N + col] = sum[0];
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = BM, .tile_n = BN, .tile_k = BK);
