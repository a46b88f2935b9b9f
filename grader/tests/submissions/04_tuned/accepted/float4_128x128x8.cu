// 128 x 128 x 8 tiles, 8 x 8 outputs a thread, the tile of A transposed, float4 with scalar tails.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 128, BN = 128, BK = 8;
constexpr int LDA = BM + 4;  // a multiple of 4 keeps the rows aligned for float4

#define FLOAT4(x) (*reinterpret_cast<float4 *>(&(x)))
#define CONST_FLOAT4(x) (*reinterpret_cast<const float4 *>(&(x)))

// Four words of row `row` from column `col` on, zeros outside of rows x cols.
__device__ __forceinline__ float4 load4(const float *m, int row, int col, int rows, int cols) {
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < rows) {
        const float *at = m + row * cols + col;
        if (cols % 4 == 0 && col + 3 < cols) {
            v = CONST_FLOAT4(*at);
        } else {
            if (col + 0 < cols) v.x = at[0];
            if (col + 1 < cols) v.y = at[1];
            if (col + 2 < cols) v.z = at[2];
            if (col + 3 < cols) v.w = at[3];
        }
    }
    return v;
}

__device__ __forceinline__ void store4(float *C, int row, int col, int M, int N, float4 v) {
    if (row >= M) return;
    float *at = C + row * N + col;
    if (N % 4 == 0 && col + 3 < N) {
        FLOAT4(*at) = v;
    } else {
        if (col + 0 < N) at[0] = v.x;
        if (col + 1 < N) at[1] = v.y;
        if (col + 2 < N) at[2] = v.z;
        if (col + 3 < N) at[3] = v.w;
    }
}

__global__ void __launch_bounds__(256)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ __align__(16) float As[BK][LDA];
    __shared__ __align__(16) float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int a_row = tid / 2, a_k = tid % 2 * 4;
    const int b_k = tid / 32, b_col = tid % 32 * 4;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 a4 = load4(A, row0 + a_row, k0 + a_k, M, K);
        FLOAT4(Bs[b_k][b_col]) = load4(B, k0 + b_k, col0 + b_col, K, N);
        As[a_k + 0][a_row] = a4.x;
        As[a_k + 1][a_row] = a4.y;
        As[a_k + 2][a_row] = a4.z;
        As[a_k + 3][a_row] = a4.w;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[8], b[8];
            FLOAT4(a[0]) = FLOAT4(As[k][ty * 4]);
            FLOAT4(a[4]) = FLOAT4(As[k][ty * 4 + 64]);
            FLOAT4(b[0]) = FLOAT4(Bs[k][tx * 4]);
            FLOAT4(b[4]) = FLOAT4(Bs[k][tx * 4 + 64]);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        const int row = row0 + ty * 4 + i % 4 + i / 4 * 64;
        store4(C, row, col0 + tx * 4, M, N, FLOAT4(sum[i][0]));
        store4(C, row, col0 + tx * 4 + 64, M, N, FLOAT4(sum[i][4]));
    }
}

LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = BM, .tile_n = BN, .tile_k = BK);
