// 64 x 64 x 16 tiles, 4 x 4 outputs a thread 16 apart, A padded row-major, everything a template.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

template <int BM, int BN, int BK, int TM, int TN>
__device__ void multiply(const float *A, const float *B, float *C, int M, int N, int K) {
    constexpr int ROW_THREADS = BM / TM;
    constexpr int COL_THREADS = BN / TN;
    constexpr int THREADS = ROW_THREADS * COL_THREADS;
    __shared__ float As[BM][BK + 1];
    __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int ty = tid / COL_THREADS, tx = tid % COL_THREADS;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
#pragma unroll
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i) a[i] = As[ty + i * ROW_THREADS][k];
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][tx + j * COL_THREADS];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + ty + i * ROW_THREADS, col = col0 + tx + j * COL_THREADS;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

__global__ void __launch_bounds__(256)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    multiply<64, 64, 16, 4, 4>(A, B, C, M, N, K);
}

LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = 64, .tile_n = 64, .tile_k = 16);
