// Takes the way without guards where M and N are whole tiles, and forgets to ask for K.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32, STEP = 8;

template <bool Whole>
__device__ void multiply(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][STEP + 1], Bs[STEP][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += STEP) {
        if (tx < STEP) {
            As[ty][tx] = Whole || (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        }
        if (ty < STEP) {
            Bs[ty][tx] = Whole || (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;  // EXPECT-LINE
        }
        __syncthreads();
        for (int k = 0; k < STEP; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (Whole || (row < M && col < N)) C[row * N + col] = sum;
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M % T == 0 && N % T == 0) {
        multiply<true>(A, B, C, M, N, K);
    } else {
        multiply<false>(A, B, C, M, N, K);
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = STEP);
