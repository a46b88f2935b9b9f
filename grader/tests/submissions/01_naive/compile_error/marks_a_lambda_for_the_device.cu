// A lambda in the kernel is marked for the device, which nvcc takes only with an option.
// EXPECT verdict=compile_error kind=marked_lambda line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    auto product = [=] __device__(int k) { return A[row * K + k] * B[k * N + col]; };  // EXPECT-LINE
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += product(k);
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
