// Leaves the simulator's loop by the compiler's own longjmp.
// EXPECT verdict=rejected kind=forbidden_extension line=marked devices=simulator,gpu
#include "launch.cuh"

__device__ void *place[5];

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (M == 1) __builtin_longjmp(place, 1);  // EXPECT-LINE
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
