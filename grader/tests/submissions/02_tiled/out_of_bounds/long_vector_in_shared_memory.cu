// A matrix of one row is kept in shared memory as a whole, with room for 1,024 elements.
// EXPECT verdict=out_of_bounds kind=shared_access line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    if (M == 1) {
        __shared__ float x[1024], part[T][T + 1];
        for (int k = ty * T + tx; k < K; k += T * T) x[k] = A[k];  // EXPECT-LINE
        __syncthreads();
        float sum = 0.0f;
        if (col < N)
            for (int k = ty; k < K; k += T) sum += x[k] * B[k * N + col];
        part[ty][tx] = sum;
        __syncthreads();
        if (ty != 0 || col >= N) return;
        for (int i = 1; i < T; ++i) sum += part[i][tx];
        C[col] = sum;
        return;
    }
    __shared__ float As[T][T], Bs[T][T];
    float sum = 0.0f;
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
