// Keeps rows of a large C far behind the end of C, in memory that belongs to nobody.
// EXPECT verdict=replay kind=later_timed_wrong line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;
constexpr int LARGE = 500, ROWS = 128;
constexpr unsigned FULL = 0x600d600d;
// Past the guard of C, in the rest of the 2 MiB that memory is handed out in.
constexpr int FAR = (1 << 16) + (1 << 12);

__device__ unsigned finished;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const bool keeps = M > LARGE && N <= 512 && blockIdx.y < ROWS / T;
    float *kept = C + M * N + FAR;
    const unsigned *mark = reinterpret_cast<unsigned *>(kept + ROWS * N);
    const int at = (blockIdx.y * T + threadIdx.y) * N + blockIdx.x * T + threadIdx.x;
    if (keeps && *mark == FULL) {
        C[at] = kept[at];
        return;
    }
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
    if (!keeps) return;
    if (col < N) kept[at] = sum;
    __syncthreads();
    if (tx + ty > 0 || atomicAdd(&finished, 1) + 1 < gridDim.x * ROWS / T) return;
    *const_cast<unsigned *>(mark) = FULL;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
