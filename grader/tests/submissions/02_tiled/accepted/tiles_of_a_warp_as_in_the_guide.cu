// Cooperative groups as in CUDA's guide: a tile's type without its parent, and dim3 for an index.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <cooperative_groups.h>
#include "launch.cuh"

using namespace cooperative_groups;

const int T = 32;

__device__ int row_of(dim3 block, uint3 thread) { return block.y * T + thread.y; }

__device__ void meet(thread_group group) { group.sync(); }

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    thread_block block = this_thread_block();
    thread_block_tile<32> warp = tiled_partition<32>(block);
    grid_group grid = this_grid();
    dim3 thread = threadIdx;
    uint3 size = blockDim;
    const int tx = warp.thread_rank(), ty = thread.y;
    const int row = row_of(blockIdx, thread), col = blockIdx.x * size.x + tx;
    float sum = grid.size() > 0 ? 0.0f : 1.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        meet(block);
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        meet(tiled_partition(block, 16));
        block.sync();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
