// Saved on Windows (CR LF line ends), with size_t and unsigned indices and a volatile sum.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cstddef>
#include "launch.cuh"

#define LOAD(matrix, ld, r, c) \
    ((matrix)[static_cast<size_t>(r) * (ld) + (c)])

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned rows = M, cols = N, depth = K;
    if (row < rows && col < cols) {
        volatile float sum = 0.0f;
        for (size_t k = 0; k < depth; ++k)
            sum = sum + LOAD(A, depth, row, k) * LOAD(B, cols, k, col);
        C[static_cast<size_t>(row) * cols + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 4, .tile_m = 4, .tile_n = 32);
