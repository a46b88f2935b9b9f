// Lanes past the last column return early, and the others still ask them for words of A.
// EXPECT verdict=uninitialised kind=unset_lane line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 32, R = 8;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int lane = threadIdx.x;
    const int col = blockIdx.x * T + lane, row = blockIdx.y * R + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const float mine = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        for (int k = 0; k < T && k0 + k < K; ++k) {
            const float a = __shfl_sync(0xffffffffu, mine, k);  // EXPECT-LINE
            sum += a * B[(k0 + k) * N + col];
        }
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = R, .tile_m = R, .tile_n = T);
