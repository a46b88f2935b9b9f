// No padding, and the tiles have names that clang++ keeps for what it counts itself.
// EXPECT verdict=bank_conflicts kind=bank_conflicts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 32

__shared__ float __llvm_gcov_As[T][T], __llvm_gcov_Bs[T][T];

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, brow = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        __llvm_gcov_As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        __llvm_gcov_Bs[ty][tx] = brow < N && k0 + tx < K ? B[brow * K + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += __llvm_gcov_As[ty][k] * __llvm_gcov_Bs[tx][k];  // EXPECT-LINE
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
