// A line of its own for the assembler, which takes the simulator's calls away.
// EXPECT verdict=rejected kind=forbidden_extension line=marked devices=simulator,gpu
#include "launch.cuh"
#ident "\"\n.macro call t:vararg\n.ifnc \\t,__tsan_read4\ncallq \\t\n.endif\n.endm\n.ident \""  // EXPECT-LINE

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
