// Only the threads that load the last rows of B meet the first barrier; the others meet the second.
// EXPECT verdict=divergent_barrier kind=barrier_split line=marked devices=simulator
#include "launch.cuh"

constexpr int BM = 32, BN = 32, BK = 8;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (tx < BK) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        if (ty < BK) {
            Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();  // EXPECT-LINE
        }
        for (int k = 0; k < BK; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = BN, .block_y = BM, .tile_m = BM, .tile_n = BN, .tile_k = BK);
