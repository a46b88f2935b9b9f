// Casts const away and clears B "to free it" once the last row of C is done.
// EXPECT verdict=input_modified kind=input_modified line=marked devices=simulator
// EXPECT verdict=input_modified kind=input_modified line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.y > 0 || col >= N) return;  // one thread, one column
    for (int row = 0; row < M; ++row) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
    float *scratch = const_cast<float *>(B);
    for (int k = 0; k < K; ++k) scratch[k * N + col] = 0.0f;  // EXPECT-LINE
}

LAUNCH_CONFIG(.block_x = 64, .block_y = 1, .tile_m = 16, .tile_n = 64);
