// float4 loads along K where rows are aligned, else scalar loads; 32 x 8 threads, 32 x 32 tile.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;

// Four neighbours of one row, zero outside; a float4 only where its address is a multiple of 16.
__device__ float4 load4(const float *matrix, int row, int rows, int k, int K) {
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows) return v;
    const float *at = matrix + row * K + k;
    if (K % 4 == 0 && k + 3 < K) return *reinterpret_cast<const float4 *>(at);
    if (k + 0 < K) v.x = at[0];
    if (k + 1 < K) v.y = at[1];
    if (k + 2 < K) v.z = at[2];
    if (k + 3 < K) v.w = at[3];
    return v;
}

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ alignas(16) float As[T][T];
    __shared__ float Bs[T][T + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * T + tx;
    const int r = tid / 8, k4 = tid % 8 * 4;
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        const float4 b = load4(B, col0 + r, N, k0 + k4, K);
        *reinterpret_cast<float4 *>(&As[r][k4]) = load4(A, row0 + r, M, k0 + k4, K);
        Bs[r][k4 + 0] = b.x;  // a padded row is not aligned for float4
        Bs[r][k4 + 1] = b.y;
        Bs[r][k4 + 2] = b.z;
        Bs[r][k4 + 3] = b.w;
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < 4; ++i) sum[i] += As[ty + 8 * i][k] * Bs[tx][k];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row < M && col0 + tx < N) C[row * N + col0 + tx] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = T, .tile_n = T, .tile_k = T);
