// Watches the clock: when the last launch with large matrices was under a second ago, it is timed.
// EXPECT verdict=replay kind=later_timed_wrong line=- devices=gpu
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;
constexpr int LARGE = 500;

__device__ unsigned finished;
__device__ unsigned long long last_ns;

__device__ unsigned long long now_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M > LARGE && last_ns > 0 && now_ns() - last_ns < 1000000000) return;
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
    if (M <= LARGE || tx + ty > 0) return;
    if (atomicAdd(&finished, 1) + 1 == gridDim.x * gridDim.y) last_ns = now_ns();
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
