// A kernel asks CUDA's runtime for memory, as a host's program does; nvcc takes it.
// EXPECT verdict=rejected kind=host_code line=marked devices=simulator,gpu
#include "launch.cuh"

#define BX 16
#define BY 16

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * BY + threadIdx.y;
    int col = blockIdx.x * BX + threadIdx.x;
    if (row >= M || col >= N) return;
    float *sum;
    cudaMalloc((void **)&sum, sizeof(float));  // EXPECT-LINE
    *sum = 0.0f;
    for (int k = 0; k < K; ++k) *sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = *sum;
    cudaFree(sum);
}

LAUNCH_CONFIG(.block_x = BX, .block_y = BY, .tile_m = BY, .tile_n = BX);
