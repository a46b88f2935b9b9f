// Prints one line on the 1 x 1 x 1 product, as one does while looking for a bug; silent otherwise.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cstdio>
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
    if (M == 1 && N == 1 && K == 1) printf("row %d col %d: %f\n", row, col, sum);
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
