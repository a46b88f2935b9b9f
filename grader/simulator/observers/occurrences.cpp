#include "occurrences.hpp"

#include <algorithm>
#include <cstring>

#include "../machine/platform.hpp"
#include "observers.hpp"

namespace sim {

namespace {

constexpr size_t arena_bytes = (size_t)2 << 30;  // of address space
char *arena;
size_t arena_used;

// How far into the longest lane's accesses the first one of another lane is looked for, at most;
// less far in long loops, where each try costs more.
constexpr uint32_t largest_skip = 64;
constexpr uint32_t largest_effort = 1u << 16;

struct Lane {
    const uint32_t *offsets;
    uint32_t count;
};

// The numbers of the reference's occurrences that lie `distance` from those of `lane`, in order;
// false when one has none.
bool match(const Lane &lane, const Lane &reference, uint32_t distance, uint32_t *numbers) {
    uint32_t at = 0;
    for (uint32_t number = 0; number < lane.count; ++number, ++at) {
        uint32_t wanted = lane.offsets[number] - distance;
        while (at < reference.count && reference.offsets[at] != wanted) ++at;
        if (at == reference.count) return false;
        numbers[number] = at;
    }
    return true;
}

bool place(const Lane &lane, const Lane &reference, uint32_t *numbers) {
    uint32_t tries = std::min(largest_skip, largest_effort / reference.count + 1);
    uint32_t end = std::min(reference.count - lane.count + 1, tries);
    for (uint32_t first = 0; first < end; ++first) {
        if (match(lane, reference, lane.offsets[0] - reference.offsets[first], numbers)) return true;
    }
    return false;
}

}  // namespace

void reserve_occurrences() { arena = (char *)reserve(arena_bytes); }

void *take_raw(size_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (arena_used + bytes > arena_bytes) return nullptr;
    void *memory = arena + arena_used;
    arena_used += bytes;
    return memory;
}

void *take(size_t bytes) {
    void *memory = take_raw(bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

void forget_occurrences() { arena_used = 0; }

// A block between two barriers has a track for each warp and line: clearing all of one that holds
// few occurrences would cost more than they do.
Track *take_track() {
    Track *track = (Track *)take_raw(sizeof(Track));
    if (track) track->count = 0;
    return track;
}

Group *add_group(Track &track) {
    uint32_t chunk = track.count / group_chunk;
    if (chunk >= max_chunks) return nullptr;
    if (track.count % group_chunk == 0) {
        Group *fresh = (Group *)take_raw(group_chunk * sizeof(Group));
        if (!fresh) return nullptr;
        track.chunks[chunk] = fresh;
    }
    Group *group = group_at(track, track.count++);
    memset(group, 0, sizeof *group);
    return group;
}

bool realign(Track &track, const uint32_t *counts) {
    uint32_t *own = (uint32_t *)take(track.count * sizeof(uint32_t));
    uint32_t *longest = (uint32_t *)take(track.count * sizeof(uint32_t));
    uint32_t *numbers = (uint32_t *)take(track.count * sizeof(uint32_t));
    if (!own || !longest || !numbers) return false;
    int most = (int)(std::max_element(counts, counts + warp_lanes) - counts);
    for (uint32_t at = 0; at < counts[most]; ++at) longest[at] = group_at(track, at)->offset[most];
    Lane reference{longest, counts[most]};
    for (int index = 0; index < warp_lanes; ++index) {
        Lane lane{own, counts[index]};
        if (lane.count == 0 || lane.count == reference.count) continue;
        for (uint32_t at = 0; at < lane.count; ++at) own[at] = group_at(track, at)->offset[index];
        if (!place(lane, reference, numbers)) continue;
        for (uint32_t at = 0; at < lane.count; ++at) {
            group_at(track, at)->active &= ~(1u << index);
            group_at(track, at)->offset[index] = 0;
        }
        for (uint32_t at = 0; at < lane.count; ++at) {
            group_at(track, numbers[at])->active |= 1u << index;
            group_at(track, numbers[at])->offset[index] = own[at];
        }
    }
    return true;
}

}  // namespace sim
