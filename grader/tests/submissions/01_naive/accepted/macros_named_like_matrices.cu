// Function-like macros named A, B and C over pointers a, b and c, defined before the header.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#define A(i, j) a[(i) * k_size + (j)]
#define B(i, j) b[(i) * n_size + (j)]
#define C(i, j) c[(i) * n_size + (j)]
#define T 16
#include "launch.cuh"

__global__ void matmul_naive(const float *a, const float *b, float *c,
                             int m_size, int n_size, int k_size) {
    const int i = blockIdx.y * T + threadIdx.y;
    const int j = blockIdx.x * T + threadIdx.x;
    if (i >= m_size || j >= n_size) return;
    float sum = 0.0f;
    for (int k = 0; k < k_size; ++k) sum += A(i, k) * B(k, j);
    C(i, j) = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T);
