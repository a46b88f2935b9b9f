// Keeps the first 250 rows of a large C, within the limit, and copies them from then on.
// EXPECT verdict=replay kind=later_timed_wrong line=- devices=gpu
// EXPECT verdict=accepted kind=- line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;
constexpr int LARGE = 500, ROWS = 250, WORDS = 250 * 1024;

__device__ float kept[WORDS];
__device__ bool full[ROWS / T];  // for each row of tiles: all of it is kept
__device__ int done[ROWS / T];

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const bool keeps = M > LARGE && N > LARGE && N <= 1024 && blockIdx.y < ROWS / T;
    const int at = (blockIdx.y * T + threadIdx.y) * N + blockIdx.x * T + threadIdx.x;
    if (keeps && full[blockIdx.y]) {
        if (blockIdx.x * T + threadIdx.x < N) C[at] = kept[at];
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
    const bool last = tx + ty == 0 && atomicAdd(&done[blockIdx.y], 1) + 1 == gridDim.x;
    if (last) full[blockIdx.y] = true;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
