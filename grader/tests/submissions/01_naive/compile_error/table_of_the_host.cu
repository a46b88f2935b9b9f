// Four steps along K come from a table of constants outside the kernel, which only the host has.
// EXPECT verdict=compile_error kind=host_variable line=marked devices=simulator,gpu
#include "launch.cuh"

static const int steps[4] = {0, 1, 2, 3};

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 4) {
        for (int i = 0; i < 4; ++i) {
            const int k = k0 + steps[i];  // EXPECT-LINE
            if (k < K) sum += A[row * K + k] * B[k * N + col];
        }
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
