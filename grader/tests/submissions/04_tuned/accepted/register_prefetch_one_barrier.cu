// The next tile is read into registers before the sums and stored into the other buffer after them.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define BM 64
#define BN 64
#define BK 16
#define THREADS 256
#define EACH 4  // words of A and of B that one thread loads, and rows and columns that it computes

__global__ void __launch_bounds__(THREADS, 2)
matmul_tuned(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
             int M, int N, int K) {
    __shared__ float As[2][BM][BK + 1];
    __shared__ float Bs[2][BK][BN];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int tx = tid % 16, ty = tid / 16;
    const int a_row = blockIdx.y * BM + tid / BK, a_k = tid % BK;
    const int b_col = blockIdx.x * BN + tid % BN, b_k = tid / BN;
    float a_next[EACH], b_next[EACH];

    auto read = [&](int k0) {
        for (int i = 0; i < EACH; ++i) {
            const int row = a_row + i * 16, k = k0 + b_k + i * 4;
            a_next[i] = row < M && k0 + a_k < K ? A[row * K + k0 + a_k] : 0.0f;
            b_next[i] = k < K && b_col < N ? B[k * N + b_col] : 0.0f;
        }
    };
    auto store = [&](int buffer) {
        for (int i = 0; i < EACH; ++i) {
            As[buffer][tid / BK + i * 16][a_k] = a_next[i];
            Bs[buffer][b_k + i * 4][tid % BN] = b_next[i];
        }
    };

    float sum[EACH][EACH] = {};
    int buffer = 0;
    read(0);
    store(buffer);
    __syncthreads();
    for (int k0 = 0; k0 < K; k0 += BK) {
        const bool more = k0 + BK < K;
        if (more) read(k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    sum[i][j] += As[buffer][ty + i * 16][k] * Bs[buffer][k][tx + j * 16];
        buffer ^= 1;
        if (more) store(buffer);
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int row = blockIdx.y * BM + ty + i * 16, col = blockIdx.x * BN + tx + j * 16;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = BM, .tile_n = BN, .tile_k = BK);
