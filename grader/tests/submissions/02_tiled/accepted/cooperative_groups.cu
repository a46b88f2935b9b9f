// Barriers through cooperative groups; half a warp shares its row of A with shfl of a group.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cooperative_groups.h>
#include "launch.cuh"

namespace cg = cooperative_groups;

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float Bs[T][T];
    const cg::thread_block block = cg::this_thread_block();
    const auto half = cg::tiled_partition<T>(block);
    const int lane = half.thread_rank();
    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + lane;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const int k_row = k0 + threadIdx.y;
        const float mine = row < M && k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        Bs[threadIdx.y][lane] = k_row < K && col < N ? B[k_row * N + col] : 0.0f;
        block.sync();
        for (int k = 0; k < T; ++k) sum += half.shfl(mine, k) * Bs[k][lane];
        block.sync();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
