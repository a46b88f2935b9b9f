// Packs its own numbers into fields of 4 and 48 bits; a function takes its eight sums by value.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

struct Place {
    unsigned row : 4, col : 4, used : 24;
};

struct __attribute__((packed)) Steps {
    unsigned long long count : 48;
};

struct alignas(8) Eight {
    float v[8];
};

__device__ float sum_of(Eight some) {
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i) sum += some.v[i];
    return sum;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const Place place = {threadIdx.y, threadIdx.x, T};
    const Steps steps = {(unsigned long long)(K + T - 1) / T};
    const int row = blockIdx.y * place.used + place.row, col = blockIdx.x * place.used + place.col;
    Eight parts = {};
    for (int step = 0; step < (int)steps.count; ++step) {
        const int k_a = step * T + place.col, k_b = step * T + place.row;
        As[place.row][place.col] = row < M && k_a < K ? A[row * K + k_a] : 0.0f;
        Bs[place.row][place.col] = k_b < K && col < N ? B[k_b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) parts.v[k % 8] += As[place.row][k] * Bs[k][place.col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum_of(parts);
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
