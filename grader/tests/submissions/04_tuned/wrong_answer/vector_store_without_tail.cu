// Stores four columns at once where N allows it and forgets the scalar stores where it does not.
// EXPECT verdict=wrong_answer kind=nothing_written line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 32, BN = 64, BK = 16;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM][BK + 1];
    __shared__ __align__(16) float Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * 16 + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float4 sum[2] = {make_float4(0.0f, 0.0f, 0.0f, 0.0f), make_float4(0.0f, 0.0f, 0.0f, 0.0f)};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) {
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += 256) {
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float4 b = *reinterpret_cast<const float4 *>(&Bs[k][4 * tx]);
            for (int i = 0; i < 2; ++i) {
                const float a = As[ty + 16 * i][k];
                sum[i].x += a * b.x;
                sum[i].y += a * b.y;
                sum[i].z += a * b.z;
                sum[i].w += a * b.w;
            }
        }
        __syncthreads();
    }
    const int col = col0 + 4 * tx;
    for (int i = 0; i < 2; ++i) {
        const int row = row0 + ty + 16 * i;
        if (row < M && N % 4 == 0 && col + 3 < N)
            *reinterpret_cast<float4 *>(&C[row * N + col]) = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = BM, .tile_n = BN, .tile_k = BK);
