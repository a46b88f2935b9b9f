// The kernel is called matmul_navie.
// EXPECT verdict=missing_kernel kind=missing_kernel line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_navie(const float *A, const float *B, float *C, int M, int N, int K) {  // EXPECT-LINE
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
