// Eight neighbouring columns a thread: lanes are 8 words apart, so few banks do all the work.
// EXPECT verdict=bank_conflicts kind=bank_conflicts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int BM = 64, BN = 64, BK = 8;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BK][BM], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 8 + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 64) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            As[i % BK][i / BK] = r < M && k < K ? A[r * K + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += 64) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[k * N + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) sum[i][j] += As[k][ty * 8 + i] * Bs[k][tx * 8 + j];  // EXPECT-LINE
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const int row = row0 + ty * 8 + i, col = col0 + tx * 8 + j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
}

LAUNCH_CONFIG(.block_x = 8, .block_y = 8, .tile_m = BM, .tile_n = BN, .tile_k = BK);
