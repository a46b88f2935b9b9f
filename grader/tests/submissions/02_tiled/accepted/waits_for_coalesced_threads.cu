// The threads that load an element of A wait for one another as a group of coalesced threads.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const cg::thread_block block = cg::this_thread_block();
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = 0.0f;
        if (row < M && k0 + tx < K) {
            const cg::coalesced_group loading = cg::coalesced_threads();
            As[ty][tx] = A[row * K + k0 + tx];
            loading.sync();
        }
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        block.sync();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        block.sync();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
