// Sums forwards or backwards by a ticket from a counter that nobody sets back between launches.
// EXPECT verdict=not_deterministic kind=not_deterministic line=- devices=simulator,gpu
#include "launch.cuh"

__device__ unsigned tickets;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const bool backwards = atomicAdd(&tickets, 1u) / 997 % 2 == 1;  // "spreads the traffic"
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int i = 0; i < K; ++i) {
        const int k = backwards ? K - 1 - i : i;
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
