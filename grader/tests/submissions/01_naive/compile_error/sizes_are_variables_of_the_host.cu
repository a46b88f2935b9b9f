// The width of the tile is a variable outside the kernel, neither a constant nor one of the device.
// EXPECT verdict=compile_error kind=host_variable line=marked devices=simulator,gpu
#include "launch.cuh"

int tile = 16;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * tile + threadIdx.x;  // EXPECT-LINE
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
