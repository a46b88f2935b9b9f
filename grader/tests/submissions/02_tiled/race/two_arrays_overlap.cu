// The second tile begins after one row of the first: threads of two rows store to one word.
// EXPECT verdict=race kind=two_writers line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

extern __shared__ float tiles[];

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    float *As = tiles, *Bs = tiles + T;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty * T + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty * T + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // EXPECT-LINE
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty * T + k] * Bs[k * T + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T,
              .dynamic_shared = 2 * T * T * sizeof(float));
