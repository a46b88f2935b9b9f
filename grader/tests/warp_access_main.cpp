// Reads accesses of a warp (space write bytes, then 32 byte offsets or -1) and prints their cost.
#include <cstdio>

#include "warp_access.hpp"

int main() {
    int shared, write, bytes;
    while (std::scanf("%d %d %d", &shared, &write, &bytes) == 3) {
        sim::WarpAccess access{0, {}, (uint32_t)bytes, write != 0};
        for (int lane = 0; lane < sim::warp_lanes; ++lane) {
            long offset = -1;
            if (std::scanf("%ld", &offset) != 1) return 1;
            if (offset < 0) continue;
            access.active |= 1u << lane;
            access.offset[lane] = (uint32_t)offset;
        }
        if (shared) {
            sim::SharedCost cost = sim::shared_cost(access);
            std::printf("%u %u\n", cost.wavefronts, cost.ideal_wavefronts);
        } else {
            sim::GlobalCost cost = sim::global_cost(access);
            std::printf("%u %u\n", cost.sectors, cost.ideal_sectors);
        }
    }
    return 0;
}
