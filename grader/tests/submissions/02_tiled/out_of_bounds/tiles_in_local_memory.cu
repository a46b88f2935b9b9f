// Each thread keeps its two words of the tiles to itself, and only tells the others where they are.
// EXPECT verdict=out_of_bounds kind=foreign_local line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ const float *a_of[T][T];
    __shared__ const float *b_of[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float a = 0.0f, b = 0.0f, sum = 0.0f;
    a_of[ty][tx] = &a;
    b_of[ty][tx] = &b;
    for (int k0 = 0; k0 < K; k0 += T) {
        a = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        b = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += *a_of[ty][k] * *b_of[k][tx];  // EXPECT-LINE
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
