// Whole tiles go a way without guards, on which the row of A is kept in sixteen bits.
// EXPECT verdict=index_overflow kind=wrong_when_large line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    if (M % T == 0 && N % T == 0 && K % T == 0) {
        const unsigned short r = row;
        const float *from = A + r * K;
        const int steps = K / T;
        for (int step = 0; step < steps; ++step) {
            As[ty][tx] = from[step * T + tx];  // EXPECT-LINE
            Bs[ty][tx] = B[(step * T + ty) * N + col];
            __syncthreads();
            for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        C[row * N + col] = sum;
        return;
    }
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
