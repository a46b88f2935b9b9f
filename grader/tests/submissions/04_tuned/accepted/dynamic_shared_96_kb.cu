// 128 x 64 tiles, 128 deep, in 98,816 bytes of dynamic shared memory: twice the static limit.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 128, BN = 64, BK = 128;
constexpr int LDA = BK + 1, LDB = BN;
constexpr int WORDS = BM * LDA + BK * LDB;

extern __shared__ float pool[];

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    float *const As = pool;
    float *const Bs = pool + BM * LDA;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * 16 + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[8][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) {
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i / BK * LDA + i % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += 256) {
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN * LDB + i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
        const int depth = K - k0 < BK ? K - k0 : BK;
        for (int k = 0; k < depth; ++k) {
            float b[4];
            for (int j = 0; j < 4; ++j) b[j] = Bs[k * LDB + tx + 16 * j];
            for (int i = 0; i < 8; ++i) {
                const float a = As[(ty + 16 * i) * LDA + k];
                for (int j = 0; j < 4; ++j) sum[i][j] += a * b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = BM, .tile_n = BN, .tile_k = BK,
              .dynamic_shared = WORDS * sizeof(float));
