// Tiles made of structs of 32 bytes, which are copied whole from shared memory.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32, W = 8;

struct alignas(32) Eight {
    float v[W];
};

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Eight As[T][T / W], Bs[T][T / W];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * T + tx;
    const int r = t / (T / W), c = t % (T / W);
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    Eight sum = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = ty; i < T; i += T / W) {
            const int row = row0 + i, col = col0 + tx;
            As[i][tx / W].v[tx % W] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[i][tx / W].v[tx % W] = k0 + i < K && col < N ? B[(k0 + i) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            const Eight b = Bs[k][c];
            for (int j = 0; j < W; ++j) sum.v[j] += As[r][k / W].v[k % W] * b.v[j];
        }
        __syncthreads();
    }
    for (int j = 0; j < W; ++j) {
        const int row = row0 + r, col = col0 + c * W + j;
        if (row < M && col < N) C[row * N + col] = sum.v[j];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = T / W, .tile_m = T, .tile_n = T, .tile_k = T);
