// Two rows of 16 threads share a warp; each hands its words of A round with a mask of its own half.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const unsigned half = ty % 2 ? 0xffff0000u : 0x0000ffffu;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const float mine = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        if (row < M) {  // the same for all lanes of the half
            for (int k = 0; k < T; ++k) sum += __shfl_sync(half, mine, k, T) * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
