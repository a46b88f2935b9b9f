// A template makes a shared array for each column of A's tile and each row of B's: 96 arrays.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 48;

template <int k, bool of_a> __device__ float *words() {
    __shared__ float array[T];
    return array;
}

template <int k = 0> __device__ void keep(bool of_a, int which, int at, float value) {
    if constexpr (k < T) {
        if (k == which) {
            (of_a ? words<k, true>() : words<k, false>())[at] = value;
        } else {
            keep<k + 1>(of_a, which, at, value);
        }
    }
}

template <int k = 0> __device__ float dot(int ty, int tx, float sum) {
    if constexpr (k < T) {
        return dot<k + 1>(ty, tx, sum + words<k, true>()[ty] * words<k, false>()[tx]);
    } else {
        return sum;
    }
}

__global__ void __launch_bounds__(T * 16) matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int tx = threadIdx.x, row0 = blockIdx.y * T, col = blockIdx.x * T + tx;
    float sum[3] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = 0; i < 3; ++i) {
            const int y = threadIdx.y + 16 * i, row = row0 + y;
            keep(true, tx, y, row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f);
            keep(false, y, tx, k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f);
        }
        __syncthreads();
        for (int i = 0; i < 3; ++i) sum[i] = dot(threadIdx.y + 16 * i, tx, sum[i]);
        __syncthreads();
    }
    for (int i = 0; i < 3; ++i) {
        const int row = row0 + threadIdx.y + 16 * i;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 16, .tile_m = T, .tile_n = T, .tile_k = T);
