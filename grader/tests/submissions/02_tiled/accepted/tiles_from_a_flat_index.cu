// One block index counts all tiles; row and column of the tile come from dividing it by their number.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tiles_n = (N + T - 1) / T;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int tid = threadIdx.x, ty = tid / T, tx = tid % T;
    const int row = tile / tiles_n * T + ty, col = tile % tiles_n * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T * T, .block_y = 1, .tile_m = T, .tile_n = T, .tile_k = T);
