// Constants outside the kernel, used for their values: in min, in sums, and in calls of constants.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr auto twice = [](int n) { return 2 * n; };
constexpr int HALF = 8, T = twice(HALF);
constexpr auto origin = make_int2;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int2 at = origin(blockIdx.y * T + ty, blockIdx.x * twice(HALF) + tx);
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += std::max(T, HALF)) {
        As[ty][tx] = at.x < M && k0 + tx < K ? A[at.x * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && at.y < N ? B[(k0 + ty) * N + at.y] : 0.0f;
        __syncthreads();
        const int steps = std::min(+T, min(T, K - k0));
        for (int k = 0; k < steps; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (at.x < M && at.y < N) C[at.x * N + at.y] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
