// cooperative_groups: thread blocks and tiles of a warp.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
  public:
    static void sync() { __syncthreads(); }
    static unsigned int thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
static inline thread_block this_thread_block() { return thread_block(); }

template <unsigned int tile_size, class parent_type = void> class thread_block_tile {
    static_assert(tile_size > 0 && tile_size <= 32 && (tile_size & (tile_size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    static unsigned int first_lane() {
        return (thread_block::thread_rank() % 32) / tile_size * tile_size;
    }
    static unsigned int mask() {
        return (unsigned int)(((1ull << tile_size) - 1) << first_lane());
    }

  public:
    static void sync() { __syncwarp(mask()); }
    static unsigned int thread_rank() { return thread_block::thread_rank() % tile_size; }
    static constexpr unsigned int num_threads() { return tile_size; }
    static constexpr unsigned int size() { return tile_size; }
    static unsigned int meta_group_rank() { return thread_block::thread_rank() / tile_size; }
    static unsigned int meta_group_size() {
        return (thread_block::num_threads() + tile_size - 1) / tile_size;
    }
    template <class value_type> static value_type shfl(value_type value, int rank) {
        return __shfl_sync(mask(), value, rank, tile_size);
    }
    template <class value_type> static value_type shfl_up(value_type value, unsigned int delta) {
        return __shfl_up_sync(mask(), value, delta, tile_size);
    }
    template <class value_type> static value_type shfl_down(value_type value, unsigned int delta) {
        return __shfl_down_sync(mask(), value, delta, tile_size);
    }
    template <class value_type> static value_type shfl_xor(value_type value, unsigned int lanes) {
        return __shfl_xor_sync(mask(), value, (int)lanes, tile_size);
    }
    static int any(int predicate) { return __any_sync(mask(), predicate); }
    static int all(int predicate) { return __all_sync(mask(), predicate); }
    static unsigned int ballot(int predicate) {
        return __ballot_sync(mask(), predicate) >> first_lane();
    }
};
template <unsigned int tile_size, class parent_type>
static inline thread_block_tile<tile_size, parent_type> tiled_partition(const parent_type &) {
    return thread_block_tile<tile_size, parent_type>();
}
template <class group_type> static inline void sync(const group_type &group) { group.sync(); }

}  // namespace cooperative_groups
