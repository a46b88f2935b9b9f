// Four products at a time: past K the registers of A keep whatever they held, those of B are zero.
// EXPECT verdict=uninitialised kind=unset_variable line=- devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 4) {
        float a[4], b[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int k = 0; k < 4 && k0 + k < K; ++k) {
            a[k] = A[row * K + k0 + k];
            b[k] = B[(k0 + k) * N + col];
        }
        for (int k = 0; k < 4; ++k) sum += a[k] * b[k];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
