// Counts its steps by ceil of a whole number, and uses names that need no header.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define T 32

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const uint32_t tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    assert(K > 0 && K <= INT_MAX && pow(2, 5) == T && M_PI > 3);
    float sum = 0.0f;
    for (int step = 0; step < ceil((K + T - 1) / T); ++step) {
        const int k0 = step * T;
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int half : {0, T / 2}) {
            for (int k = half; k < std::min(half + T / 2, T); ++k) sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
