// The helper lacks __device__, so it is host code.
// EXPECT verdict=rejected kind=host_code line=marked devices=simulator,gpu
#include "launch.cuh"

float dot(const float *row_of_a, const float *col_of_b, int K, int N) {  // EXPECT-LINE
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += row_of_a[k] * col_of_b[k * N];
    return sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = dot(A + row * K, B + col, K, N);
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
