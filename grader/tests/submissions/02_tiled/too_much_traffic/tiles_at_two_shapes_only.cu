// Goes through shared memory at two shapes; at all others every thread loads for itself.
// EXPECT verdict=too_much_traffic kind=too_much_traffic line=- devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const bool aligned = M == 64 && N == 80 && K == 96, ragged = M == 17 && N == 31 && K == 33;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        if (!aligned && !ragged) {
            const int end = row < M && col < N ? min(K, k0 + T) : 0;
            for (int k = k0; k < end; ++k) sum += A[row * K + k] * B[k * N + col];
            continue;
        }
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
