// The accesses of a warp at one place in the code since its last barrier: the n-th one of each lane,
// put together as the hardware would make them together.
#pragma once
#include <cstddef>
#include <cstdint>

#include "warp_access.hpp"

namespace sim {

struct Group {  // one access of a warp
    uint32_t active;
    uint32_t offset[warp_lanes];
    uint32_t iteration;  // of loops that are not unrolled: no compiler merges loads of two
};

constexpr uint32_t group_chunk = 64;   // occurrences
constexpr uint32_t max_chunks = 4096;  // of one track: a quarter of a million occurrences

struct Track {
    uint32_t count;
    Group *chunks[max_chunks];  // those of the first `count` occurrences; the rest is not cleared
};

// Memory until `forget_occurrences`, zeroed or as it comes; null when there is no more.
void *take(size_t bytes);
void *take_raw(size_t bytes);
void forget_occurrences();

// An empty track; one with an empty group more. Null when memory is short or the track is full.
Track *take_track();
Group *add_group(Track &track);

// One of the track's first `count` groups.
inline Group *group_at(Track &track, uint32_t number) {
    return track.chunks[number / group_chunk] + number % group_chunk;
}

// Lanes that skipped some of the occurrences, `counts` of which each lane has, are moved to those of
// the lane that has most: the ones at the same distance from it in memory. A lane for which that
// fails keeps its n-th access with the n-th of the others. False when memory is short.
bool realign(Track &track, const uint32_t *counts);

struct Load {
    Group *group;
    uint32_t bytes;
};

// The loads of `bytes` bytes as nvcc makes them where it can: neighbouring scalar loads of each lane
// of one iteration taken together, and one that follows its like closely left out. Null when memory is short.
Load *merge_loads(Track &track, uint32_t bytes, uint32_t *count);

}  // namespace sim
