// 32 x 64 tiles, two neighbouring columns a thread as a float2, four rows; scalar stores at odd N.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 32, BN = 64, BK = 32;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM][BK];
    __shared__ float2 Bs[BK][BN / 2];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * BN + 2 * tx;
    const bool pairs = N % 2 == 0;
    float2 sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int y = ty; y < BK; y += 8) {
            const int row = row0 + y, k = k0 + y;
            As[y][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            float2 b = make_float2(0.0f, 0.0f);
            if (k < K && pairs && col < N) {
                b = *reinterpret_cast<const float2 *>(B + k * N + col);
            } else if (k < K) {
                if (col < N) b.x = B[k * N + col];
                if (col + 1 < N) b.y = B[k * N + col + 1];
            }
            Bs[y][tx] = b;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float2 b = Bs[k][tx];
            for (int i = 0; i < 4; ++i) {
                const float a = As[ty + 8 * i][k];
                sum[i].x += a * b.x;
                sum[i].y += a * b.y;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row >= M || col >= N) continue;
        float *at = C + row * N + col;
        if (pairs) {
            *reinterpret_cast<float2 *>(at) = sum[i];
        } else {
            at[0] = sum[i].x;
            if (col + 1 < N) at[1] = sum[i].y;
        }
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = BM, .tile_n = BN, .tile_k = BK);
