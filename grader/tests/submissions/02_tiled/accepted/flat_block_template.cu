// A 1-D block of 256 threads, a 32 x 64 tile, three tile sizes as template parameters.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

template <int BM, int BN, int BK, int THREADS>
__device__ void multiply(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    constexpr int EACH = BM * BN / THREADS;
    constexpr int ROW_STEP = THREADS / BN;
    const int tid = threadIdx.x;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int ty = tid / BN, tx = tid % BN;
    float sum[EACH] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += THREADS) {
            const int row = row0 + i / BK, k = k0 + i % BK;
            As[i] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, col = col0 + i % BN;
            Bs[i] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k * BN + tx];
#pragma unroll
            for (int e = 0; e < EACH; ++e) sum[e] += As[(ty + e * ROW_STEP) * BK + k] * b;
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; ++e) {
        const int row = row0 + ty + e * ROW_STEP, col = col0 + tx;
        if (row < M && col < N) C[row * N + col] = sum[e];
    }
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    multiply<32, 64, 16, 256>(A, B, C, M, N, K);
}

LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = 32, .tile_n = 64, .tile_k = 16);
