// Both tiles lie in dynamic shared memory, which LAUNCH_CONFIG does not ask for.
// EXPECT verdict=out_of_bounds kind=shared_access line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    extern __shared__ float tiles[];
    float *As = tiles, *Bs = tiles + T * T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty * T + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;  // EXPECT-LINE
        Bs[ty * T + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty * T + k] * Bs[k * T + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
