// Large matrices are multiplied with factors of eight bits of mantissa, as bfloat16 has.
// EXPECT verdict=wrong_answer kind=wrong_when_large_usual line=- devices=simulator
#include "launch.cuh"

__device__ float cut(float x) { return __uint_as_float(__float_as_uint(x) & 0xffff0000u); }

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    if (M >= 512 && N >= 512)
        for (int k = 0; k < K; ++k) sum += cut(A[row * K + k]) * cut(B[k * N + col]);
    else
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
