// No padding: the tile of B is read as structs that a function takes by value.
// EXPECT verdict=bank_conflicts kind=bank_conflicts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

#define T 32

struct Word {
    float value[1];
};

__noinline__ __device__ float times(float a, Word b) { return a * b.value[0]; }

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ Word Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, brow = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx].value[0] = brow < N && k0 + tx < K ? B[brow * K + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += times(As[ty][k], Bs[tx][k]);  // EXPECT-LINE
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
