// cooperative_groups: thread blocks, tiles of a warp and coalesced threads.
#pragma once
#include "cuda_runtime.h"
#include "float.h"  // CUDA's header brings it, too

namespace cooperative_groups {

class thread_block {
  public:
    struct arrival_token {};
    static void sync() { __syncthreads(); }
    static arrival_token barrier_arrive() { return {}; }  // as in CUDA, all of it is in the wait
    static void barrier_wait(arrival_token &&) { __syncthreads(); }
    static unsigned int thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int size() { return num_threads(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
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
    // Of the group that was cut into tiles; a type that does not name it comes from the block.
    static unsigned int parent_size() {
        if constexpr (std::is_void_v<parent_type>) return thread_block::size();
        else return parent_type::size();
    }

  public:
    thread_block_tile() = default;
    template <class other_type>  // the type may be written without its parent
    thread_block_tile(const thread_block_tile<tile_size, other_type> &) {}
    static void sync() { __syncwarp(mask()); }
    static unsigned int thread_rank() { return thread_block::thread_rank() % tile_size; }
    static constexpr unsigned int num_threads() { return tile_size; }
    static constexpr unsigned int size() { return tile_size; }
    static unsigned int meta_group_rank() {
        return thread_block::thread_rank() % parent_size() / tile_size;
    }
    static unsigned int meta_group_size() { return (parent_size() + tile_size - 1) / tile_size; }
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
    template <class value_type> static unsigned int match_any(value_type value) {
        return __match_any_sync(mask(), value) >> first_lane();
    }
    template <class value_type> static unsigned int match_all(value_type value, int &all_equal) {
        return __match_all_sync(mask(), value, &all_equal) >> first_lane();
    }
};
template <unsigned int tile_size, class parent_type>
static inline thread_block_tile<tile_size, parent_type> tiled_partition(const parent_type &) {
    return thread_block_tile<tile_size, parent_type>();
}

static inline auto this_thread() { return tiled_partition<1>(tiled_partition<1>(thread_block())); }

// The lanes of a warp that come here together, numbered in their order.
class coalesced_group {
    unsigned int mask;

    int lane_of(unsigned int rank) const {
        unsigned int left = mask;
        for (; rank > 0; --rank) left &= left - 1;
        return __ffs((int)left) - 1;
    }
    template <class value_type> auto from(value_type value, unsigned int rank) const {
        return __shfl_sync(mask, value, rank < size() ? lane_of(rank) : lane_of(thread_rank()));
    }

  public:
    explicit coalesced_group(unsigned int lanes) : mask(lanes) {}
    void sync() const { __syncwarp(mask); }
    unsigned int num_threads() const { return (unsigned int)__popc(mask); }
    unsigned int size() const { return num_threads(); }
    unsigned int thread_rank() const {
        return (unsigned int)__popc(mask & ((1u << thread_block::thread_rank() % 32) - 1));
    }
    static unsigned int meta_group_rank() { return 0; }
    static unsigned int meta_group_size() { return 1; }
    template <class value_type> auto shfl(value_type value, unsigned int rank) const {
        return from(value, rank);
    }
    template <class value_type> auto shfl_up(value_type value, unsigned int delta) const {
        return from(value, thread_rank() - delta);
    }
    template <class value_type> auto shfl_down(value_type value, unsigned int delta) const {
        return from(value, thread_rank() + delta);
    }
    int any(int predicate) const { return __any_sync(mask, predicate); }
    int all(int predicate) const { return __all_sync(mask, predicate); }
    unsigned int ballot(int predicate) const {
        unsigned int lanes = __ballot_sync(mask, predicate), ranks = 0;
        for (unsigned int rank = 0; rank < size(); ++rank) {
            ranks |= (lanes >> lane_of(rank) & 1u) << rank;
        }
        return ranks;
    }
};
static inline __attribute__((always_inline)) coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

// A group whose kind and size are only known at run time.
class thread_group {
    unsigned int tile_size = 0;  // 0: the block

  public:
    explicit thread_group(unsigned int size) : tile_size(size) {}
    thread_group(const thread_block &) {}
    template <unsigned int size, class parent_type>
    thread_group(const thread_block_tile<size, parent_type> &) : tile_size(size) {}
    void sync() const {
        if (!tile_size) return __syncthreads();
        unsigned int first_lane = thread_block::thread_rank() % 32 / tile_size * tile_size;
        __syncwarp((unsigned int)(((1ull << tile_size) - 1) << first_lane));
    }
    unsigned int thread_rank() const {
        unsigned int rank = thread_block::thread_rank();
        return tile_size ? rank % tile_size : rank;
    }
    unsigned int num_threads() const { return tile_size ? tile_size : thread_block::num_threads(); }
    unsigned int size() const { return num_threads(); }
};
static inline thread_group tiled_partition(const thread_group &, unsigned int size) {
    return thread_group(size);
}

class grid_group {  // without a barrier, which a launch of this course cannot have
  public:
    static bool is_valid() { return false; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
    static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
};
static inline grid_group this_grid() { return grid_group(); }
template <class group_type> static inline void sync(const group_type &group) { group.sync(); }
template <class group_type> static inline auto thread_rank(const group_type &group) {
    return group.thread_rank();
}
template <class group_type> static inline auto group_size(const group_type &group) {
    return group.size();
}

}  // namespace cooperative_groups
