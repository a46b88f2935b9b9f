// A row of the tile of A is one struct of 256 bytes; each thread copies it whole.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 64, R = 8;

struct Row {
    float v[T];
};

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Row As[R];
    __shared__ float Bs[T][T];
    const int t = threadIdx.x, row0 = blockIdx.y * R, col = blockIdx.x * T + t;
    float sum[R] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = 0; i < R; ++i) {
            As[i].v[t] = row0 + i < M && k0 + t < K ? A[(row0 + i) * K + k0 + t] : 0.0f;
        }
        for (int i = 0; i < T; ++i) Bs[i][t] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < R; ++i) {
            const Row mine = As[i];
            for (int k = 0; k < T; ++k) sum[i] += mine.v[k] * Bs[k][t];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; ++i) {
        if (row0 + i < M && col < N) C[(row0 + i) * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 1, .tile_m = R, .tile_n = T, .tile_k = T);
