// Rows are fetched three floats at a time by a compiler's own copy, also where a row has fewer left.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 15;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        if (tx % 3 == 0) {
            float three[3] = {};
            if (row < M && k0 + tx < K) {
                __builtin_memcpy(three, &A[row * K + k0 + tx], sizeof three);  // EXPECT-LINE
            }
            for (int i = 0; i < 3; ++i) As[ty][tx + i] = k0 + tx + i < K ? three[i] : 0.0f;
        }
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
