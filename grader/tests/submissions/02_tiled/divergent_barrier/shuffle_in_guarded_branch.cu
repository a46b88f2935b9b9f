// Words of A are handed round with a mask of all lanes where only those inside of C come by.
// EXPECT verdict=divergent_barrier kind=lanes_missed line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        if (row < M && col < N) {
            const float mine = k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            for (int k = 0; k < T; ++k) {
                const float a = __shfl_sync(0xffffffffu, mine, k);  // EXPECT-LINE
                sum += a * Bs[k][tx];
            }
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
