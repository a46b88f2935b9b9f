// What one access of a warp costs on the hardware, from the addresses of its lanes. The rule
// reproduces the counters of an H200 for every pattern that was measured (grader/tests/data).
#pragma once
#include <cstdint>

namespace sim {

constexpr int warp_lanes = 32;

struct WarpAccess {
    uint32_t active;               // a bit for each lane
    uint32_t offset[warp_lanes];   // bytes; a multiple of the access's width
    uint32_t bytes;                // each lane's: 1, 2, 4, 8 or 16
    bool write;
};

struct GlobalCost {
    uint32_t sectors;        // pieces of 32 bytes that are touched
    uint32_t ideal_sectors;  // that the distinct words (or narrower elements) would fill
};
GlobalCost global_cost(const WarpAccess &access);

struct SharedCost {
    uint32_t wavefronts;
    uint32_t ideal_wavefronts;  // bank conflicts are what is above
    uint32_t group_lanes;       // served together
};
SharedCost shared_cost(const WarpAccess &access);

}  // namespace sim
