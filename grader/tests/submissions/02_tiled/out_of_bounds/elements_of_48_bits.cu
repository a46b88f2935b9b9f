// Loads each element as the low half of a bit-field of 48 bits: two bytes past the last one, too.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
#include "launch.cuh"

#define T 16

struct __attribute__((packed)) Field {
    unsigned long long low : 48;
};

__device__ float element(const float *from) {
    return __uint_as_float((unsigned)((const Field *)from)->low);  // EXPECT-LINE
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? element(&A[row * K + k0 + tx]) : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? element(&B[(k0 + ty) * N + col]) : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
