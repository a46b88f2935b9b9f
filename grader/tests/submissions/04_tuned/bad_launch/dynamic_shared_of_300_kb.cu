// Wants 300,000 bytes of shared memory for a block; the target GPU has 232,448.
// EXPECT verdict=bad_launch kind=too_much_shared line=marked devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

extern __shared__ float tiles[];

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    float *As = tiles, *Bs = tiles + T * T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty * T + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty * T + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty * T + k] * Bs[k * T + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T, .dynamic_shared = 300000);  // EXPECT-LINE
