// Two stages through a cuda::pipeline of the thread, copies as cuda::memcpy_async.
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include <cuda/pipeline>
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int steps = (K + T - 1) / T;
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();

    auto copy = [&](float &to, const float *from, bool inside) {
        if (inside)
            cuda::memcpy_async(&to, from, cuda::aligned_size_t<4>(4), pipeline);
        else
            to = 0.0f;
    };
    auto fetch = [&](int step) {
        const int k0 = step * T;
        pipeline.producer_acquire();
        copy(As[step % 2][ty][tx], A + row * K + k0 + tx, row < M && k0 + tx < K);
        copy(Bs[step % 2][ty][tx], B + (k0 + ty) * N + col, k0 + ty < K && col < N);
        pipeline.producer_commit();
    };

    float sum = 0.0f;
    fetch(0);
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
            fetch(step + 1);
            cuda::pipeline_consumer_wait_prior<1>(pipeline);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipeline);
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[step % 2][ty][k] * Bs[step % 2][k][tx];
        pipeline.consumer_release();
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
