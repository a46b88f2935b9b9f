// Barriers, fences and warp-level operations: the places where the simulator switches threads.
#pragma once

#include "type_traits"

// Two barriers in two branches must stay two places, and so must two warp-level operations.
#ifdef __clang__
#define SIM_PLACE __attribute__((nomerge))
#define SIM_CONVERGENT __attribute__((nomerge, convergent))  // two calls must not become one
#else
#define SIM_PLACE
#define SIM_CONVERGENT
#endif

extern "C" {
SIM_PLACE void __syncthreads();
SIM_PLACE int __syncthreads_count(int predicate);
SIM_PLACE int __syncthreads_and(int predicate);
SIM_PLACE int __syncthreads_or(int predicate);
SIM_PLACE void sim_sync_warp(unsigned int mask);
SIM_PLACE unsigned long long sim_shuffle(unsigned int mask, unsigned long long value,
                                         int lane_or_delta, int width, int mode);
SIM_PLACE unsigned int sim_ballot(unsigned int mask, int predicate);
SIM_CONVERGENT unsigned int __activemask();
// Between two iterations of a loop that is not unrolled; grader/source/loops.py puts it there.
void sim_next_iteration();
}
enum { sim_shuffle_index, sim_shuffle_up, sim_shuffle_down, sim_shuffle_xor };

static inline void __syncwarp(unsigned int mask = 0xffffffffu) { sim_sync_warp(mask); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}

static inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return sim_ballot(mask, predicate);
}
static inline int __any_sync(unsigned int mask, int predicate) {
    return sim_ballot(mask, predicate) != 0;
}
static inline int __all_sync(unsigned int mask, int predicate) {
    return sim_ballot(mask, !predicate) == 0;
}

template <class value_type>  // as in any sum, smaller integers move as an int
using sim_shuffled =
    std::conditional_t<std::is_integral_v<value_type> && sizeof(value_type) < sizeof(int), int,
                       value_type>;
template <class value_type>
static inline value_type sim_shuffle_value(unsigned int mask, value_type value, int lane, int width,
                                           int mode) {
    static_assert(sizeof(value_type) == 4 || sizeof(value_type) == 8,
                  "__shfl_sync moves values of 4 or 8 bytes");
    if constexpr (sizeof(value_type) == 4) {
        unsigned int bits = __builtin_bit_cast(unsigned int, value);
        bits = (unsigned int)sim_shuffle(mask, bits, lane, width, mode);
        return __builtin_bit_cast(value_type, bits);
    } else {
        unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
        return __builtin_bit_cast(value_type, sim_shuffle(mask, bits, lane, width, mode));
    }
}
template <class value_type>
static inline sim_shuffled<value_type> __shfl_sync(unsigned int mask, value_type value, int lane, int width = 32) {
    return sim_shuffle_value<sim_shuffled<value_type>>(mask, value, lane, width, sim_shuffle_index);
}
template <class value_type>
static inline sim_shuffled<value_type> __shfl_up_sync(unsigned int mask, value_type value, unsigned int delta,
                                        int width = 32) {
    return sim_shuffle_value<sim_shuffled<value_type>>(mask, value, (int)delta, width, sim_shuffle_up);
}
template <class value_type>
static inline sim_shuffled<value_type> __shfl_down_sync(unsigned int mask, value_type value, unsigned int delta,
                                          int width = 32) {
    return sim_shuffle_value<sim_shuffled<value_type>>(mask, value, (int)delta, width, sim_shuffle_down);
}
template <class value_type>
static inline sim_shuffled<value_type> __shfl_xor_sync(unsigned int mask, value_type value, int lane_mask,
                                         int width = 32) {
    return sim_shuffle_value<sim_shuffled<value_type>>(mask, value, lane_mask, width, sim_shuffle_xor);
}

// Of all lanes of the mask that still run, in the order of their numbers.
#define SIM_REDUCE(name, type, expression)                                                \
    static inline type __reduce_##name##_sync(unsigned int mask, type value) {            \
        unsigned int there = __ballot_sync(mask, 1);                                      \
        int lane = __builtin_ctz(there);                                                  \
        type result = __shfl_sync(mask, value, lane);                                     \
        for (++lane; lane < 32; ++lane) {                                                 \
            if (!(there >> lane & 1)) continue;                                           \
            type other = __shfl_sync(mask, value, lane);                                  \
            result = expression;                                                          \
        }                                                                                 \
        return result;                                                                    \
    }
SIM_REDUCE(add, int, (int)((unsigned int)result + (unsigned int)other))
SIM_REDUCE(add, unsigned int, result + other)
SIM_REDUCE(min, int, other < result ? other : result)
SIM_REDUCE(min, unsigned int, other < result ? other : result)
SIM_REDUCE(max, int, result < other ? other : result)
SIM_REDUCE(max, unsigned int, result < other ? other : result)
SIM_REDUCE(and, unsigned int, result & other)
SIM_REDUCE(or, unsigned int, result | other)
SIM_REDUCE(xor, unsigned int, result ^ other)
#undef SIM_REDUCE
template <class value_type>
static inline unsigned int __match_any_sync(unsigned int mask, value_type value) {
    unsigned int there = __ballot_sync(mask, 1), equal = 0;
    for (int lane = 0; lane < 32; ++lane) {
        if ((there >> lane & 1) && __shfl_sync(mask, value, lane) == value) equal |= 1u << lane;
    }
    return equal;
}
template <class value_type>
static inline unsigned int __match_all_sync(unsigned int mask, value_type value, int *all_equal) {
    bool same = __match_any_sync(mask, value) == __ballot_sync(mask, 1);
    *all_equal = same;
    return same ? mask : 0;
}
