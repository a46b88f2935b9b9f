// The loops over k are not unrolled, but a row's four neighbours are still one load of 16 bytes.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 64, BN = 64, BK = 16;
constexpr int ONCE = 1;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BK][BM + 4], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[4][4] = {};
    _Pragma("unroll 1") for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            As[i % BK][i / BK] = r < M && k < K ? A[r * K + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += 256) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[k * N + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll(ONCE)
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += As[k][ty * 4 + i] * Bs[k][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + ty * 4 + i, col = col0 + tx * 4 + j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = BM, .tile_n = BN, .tile_k = BK);
