// Cuts both factors to the 8 significant bits of bfloat16: small integers survive, others do not.
// EXPECT verdict=reduced_precision kind=reduced_factors line=- devices=simulator,gpu
#include "launch.cuh"

__device__ float cut(float x) { return __uint_as_float(__float_as_uint(x) & 0xffff0000u); }

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += cut(A[row * K + k]) * cut(B[k * N + col]);
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
