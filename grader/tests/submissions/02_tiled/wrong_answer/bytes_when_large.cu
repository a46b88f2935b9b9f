// Takes the elements of large matrices for bytes and multiplies four at once with __dp4a.
// EXPECT verdict=wrong_answer kind=timed_wrong line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;

// Four elements, cut to a byte each.
__device__ int pack(float a, float b, float c, float d) {
    return (int)a & 0xff | ((int)b & 0xff) << 8 | ((int)c & 0xff) << 16 | (int)d << 24;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T && M <= 500; ++k) sum += As[ty][k] * Bs[k][tx];
        for (int k = 0; k < T && M > 500; k += 4) {
            const int a = pack(As[ty][k], As[ty][k + 1], As[ty][k + 2], As[ty][k + 3]);
            const int b = pack(Bs[k][tx], Bs[k + 1][tx], Bs[k + 2][tx], Bs[k + 3][tx]);
            sum += __dp4a(a, b, 0);
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
