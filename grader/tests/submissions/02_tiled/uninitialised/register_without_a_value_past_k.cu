// Past the edge of A a register keeps whatever it held, and only the zeros of B's tile are to hide it.
// EXPECT verdict=uninitialised kind=unset_variable line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float a, b, sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        if (row < M && k0 + tx < K) a = A[row * K + k0 + tx];
        b = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        As[ty][tx] = a;
        Bs[ty][tx] = b;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
