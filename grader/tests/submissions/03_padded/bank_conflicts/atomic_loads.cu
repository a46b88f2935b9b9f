// No padding: the tile of B is read by atomic functions.
// EXPECT verdict=bank_conflicts kind=bank_conflicts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ int Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, brow = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = brow < N && k0 + tx < K ? __float_as_int(B[brow * K + k0 + tx]) : 0;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += As[ty][k] * __int_as_float(atomicOr(&Bs[tx][k], 0));  // EXPECT-LINE
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
