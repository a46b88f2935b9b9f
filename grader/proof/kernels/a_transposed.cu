// C = A * B with the tile of A stored transposed: its stores walk down a column, unless padded.
#include "launch.cuh"

constexpr int T = 32;
constexpr int PAD = 0;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float At[T][T + PAD];  // At[k][row]
    __shared__ float Bs[T][T];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * T + ty;
    int col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        At[tx][ty] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += At[k][ty] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
