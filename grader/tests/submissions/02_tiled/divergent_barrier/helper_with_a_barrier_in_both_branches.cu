// Whether a thread's word of B is inside decides at which of two calls it waits.
// EXPECT verdict=divergent_barrier kind=barrier_split line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__device__ __forceinline__ void keep(float &place, float value) {
    place = value;
    __syncthreads();  // EXPECT-LINE
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const int k = k0 + ty;
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        if (k < K && col < N) {
            keep(Bs[ty][tx], B[k * N + col]);
        } else {
            keep(Bs[ty][tx], 0.0f);
        }
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
