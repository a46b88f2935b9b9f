#include <algorithm>
#include <cstring>

#include "occurrences.hpp"

namespace sim {

namespace {

// A lane's next words lie near when the loop over them is the inner one, a row further when not.
constexpr uint32_t merge_reach = 1024;
// A word loaded again within a register tile's row (at most 16 values) is still in a register.
constexpr uint32_t repeat_reach = 16;

bool follows(const Group &first, const Group &next, uint32_t distance) {
    if (first.active != next.active || first.iteration != next.iteration) return false;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(first.active >> lane & 1u)) continue;
        if (next.offset[lane] != first.offset[lane] + distance) return false;
    }
    return true;
}

bool aligned(const Group &group, uint32_t bytes) {
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((group.active >> lane & 1u) && group.offset[lane] % bytes != 0) return false;
    }
    return true;
}

bool repeats(Track &track, uint32_t number) {
    const Group &group = *group_at(track, number);
    for (uint32_t back = 1; back <= std::min(number, repeat_reach); ++back) {
        const Group &before = *group_at(track, number - back);
        if (group.offset[0] != before.offset[0] || group.active != before.active) continue;
        if (memcmp(group.offset, before.offset, sizeof group.offset) == 0) return true;
    }
    return false;
}

// Looks for the occurrences that a compiler could load together with occurrence `first`.
int partners(Track &track, uint32_t first, const uint8_t *taken, uint32_t *found) {
    const Group &group = *group_at(track, first);
    int count = 0;
    for (uint32_t step = 1; step < 4; ++step) {
        uint32_t at = first + 1;
        uint32_t end = std::min(track.count, first + merge_reach);
        while (at < end && (taken[at] || !follows(group, *group_at(track, at), 4 * step))) ++at;
        if (at == end) break;
        found[count++] = at;
    }
    return count;
}

// The width of the load that begins at `first`; marks the occurrences that it takes with it.
uint32_t merged_bytes(Track &track, uint32_t first, uint8_t *taken) {
    const Group &group = *group_at(track, first);
    if (!aligned(group, 8)) return 4;
    uint32_t found[3] = {};
    int count = partners(track, first, taken, found);
    uint32_t bytes = count == 3 && aligned(group, 16) ? 16 : count >= 1 ? 8 : 4;
    for (uint32_t index = 0; index + 1 < bytes / 4; ++index) taken[found[index]] = 1;
    return bytes;
}

}  // namespace

Load *merge_loads(Track &track, uint32_t bytes, uint32_t *count) {
    *count = 0;
    uint8_t *taken = (uint8_t *)take(track.count);
    Load *loads = (Load *)take(track.count * sizeof(Load));
    if (!taken || !loads) return nullptr;
    for (uint32_t number = 0; number < track.count; ++number) {
        taken[number] = repeats(track, number);
    }
    for (uint32_t number = 0; number < track.count; ++number) {
        Group *group = group_at(track, number);
        if (taken[number] || !group->active) continue;
        loads[(*count)++] = {group, bytes == 4 ? merged_bytes(track, number, taken) : bytes};
    }
    return loads;
}

}  // namespace sim
