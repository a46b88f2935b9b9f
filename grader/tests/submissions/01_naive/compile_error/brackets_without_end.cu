// Nests ten thousand brackets.
// EXPECT verdict=compile_error kind=nested_too_deep line=marked devices=simulator
#include "launch.cuh"
#define O0 (
#define P0 )
#define O1 O0 O0 O0 O0 O0 O0 O0 O0 O0 O0
#define P1 P0 P0 P0 P0 P0 P0 P0 P0 P0 P0
#define O2 O1 O1 O1 O1 O1 O1 O1 O1 O1 O1
#define P2 P1 P1 P1 P1 P1 P1 P1 P1 P1 P1
#define O3 O2 O2 O2 O2 O2 O2 O2 O2 O2 O2
#define P3 P2 P2 P2 P2 P2 P2 P2 P2 P2 P2
#define O4 O3 O3 O3 O3 O3 O3 O3 O3 O3 O3
#define P4 P3 P3 P3 P3 P3 P3 P3 P3 P3 P3
__device__ const int deep = O4 1 P4;  // EXPECT-LINE

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
