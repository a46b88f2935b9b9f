// The last step always reads buffer 0, where it lies only if the number of steps is odd.
// EXPECT verdict=wrong_answer kind=k_step_stale line=- devices=simulator,gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int steps = (K + T - 1) / T;

    auto load = [&](int buffer, int k0) {
        As[buffer][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[buffer][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };
    auto add = [&](int buffer) {
        float part = 0.0f;
        for (int k = 0; k < T; ++k) part += As[buffer][ty][k] * Bs[buffer][k][tx];
        return part;
    };

    float sum = 0.0f;
    load(0, 0);
    __syncthreads();
    for (int step = 1; step < steps; ++step) {
        load(step % 2, step * T);
        sum += add((step - 1) % 2);
        __syncthreads();
    }
    sum += add(0);
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
