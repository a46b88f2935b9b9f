// Kernels that nobody calls: a function, a variable and a lambda that share their names are used.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#ifdef COUNTED
int calls = 0;
#endif

__global__ void clear(float *C, int i) { C[i] = 0.0f; }
__global__ void term(float *C, int i) { C[i] *= 2.0f; }
__global__ void sum(float *C, int i) { C[i] += 1.0f; }

__device__ float clear(float) { return 0.0f; }

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    auto term = [=](int k) { return A[row * K + k] * B[k * N + col]; };
    float sum(clear(1.0f));
    for (int k = 0; k < K; ++k) sum += term(k);
#ifdef COUNTED
    if (row == 0) ++calls;
    clear(C, 0);
#endif
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
