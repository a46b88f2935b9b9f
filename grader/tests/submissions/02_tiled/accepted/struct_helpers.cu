// Functions take structs by value straight from the tiles and return one straight into them.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

struct Pair {
    float even, odd;
};

__device__ float product(Pair a, Pair b) { return a.even * b.even + a.odd * b.odd; }
__device__ float4 sum(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__noinline__ __device__ Pair load(const float *from, bool first, bool second, int stride) {
    return {first ? from[0] : 0.0f, second ? from[stride] : 0.0f};
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Pair As[T][T / 2], Bs[T / 2][T];
    __shared__ float4 sums[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    sums[ty][tx] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < K; k0 += T) {
        const int k = k0 + 2 * (ty % (T / 2));
        float *to = (float *)&As[ty][tx / 2] + tx % 2;
        *to = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        if (ty < T / 2) Bs[ty][tx] = load(&B[k * N + col], k < K && col < N, k + 1 < K && col < N, N);
        __syncthreads();
        for (int i = 0; i < T / 2; ++i) {
            const float4 more = {product(As[ty][i], Bs[i][tx]), 0.0f, 0.0f, 0.0f};
            sums[ty][tx] = sum(sums[ty][tx], more);
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sums[ty][tx].x;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
