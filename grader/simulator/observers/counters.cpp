// Counts what hardware counters count, for each source line: requests, sectors, wavefronts, bank
// conflicts.
//
// Threads run one after another, so the accesses that a warp makes together are put together
// afterwards: the n-th access of a line by a lane since the last barrier belongs to the n-th access
// of that line by the other lanes.
#include "counters.hpp"

#include <algorithm>
#include <cstring>

#include "../machine/fiber.hpp"
#include "../machine/platform.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"
#include "warp_access.hpp"

namespace sim {

CounterRow counter_rows[max_counter_rows];
uint32_t counter_row_count;
uint64_t barrier_count;
LineRow line_rows[max_line_rows];
uint32_t line_row_count;

namespace {

constexpr int max_warps = max_fibers / warp_lanes;
constexpr int group_chunk = 64;      // occurrences
constexpr int max_chunks = 4096;     // of one row and warp: a quarter of a million occurrences
constexpr size_t arena_bytes = (size_t)2 << 30;  // of address space

struct Group {
    uint32_t active;
    uint32_t offset[warp_lanes];
};

struct Track {  // the occurrences of one row in one warp since the last barrier
    Group *chunks[max_chunks];
    uint32_t count;
};

struct Turn {  // how often a thread has been at a row since the last barrier
    uint32_t window, count;
};

bool counting;
char *arena;
size_t arena_used;
Track *tracks[max_warps][max_counter_rows];
Turn turns[max_fibers][max_counter_rows];
uint32_t window[max_warps];

struct Cached {
    uintptr_t pc;
    uint32_t place;
    int row;
};
constexpr uint32_t cache_size = 1u << 14;
Cached cache[cache_size];

void *take(size_t bytes) {
    if (!arena) arena = (char *)reserve(arena_bytes);
    if (arena_used + bytes > arena_bytes) return nullptr;
    void *memory = arena + arena_used;
    arena_used += bytes;
    memset(memory, 0, bytes);
    return memory;
}

uint32_t line_of(uintptr_t pc) {
    uint64_t address = pc - 1;
    uint32_t low = 0, high = line_row_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (line_rows[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? (uint32_t)line_rows[low - 1].line : 0;
}

uint32_t place_key(const Place &place) {
    uint32_t space = place.region == Region::shared ? 0 : place.region == Region::operand ? 1 : 2;
    return space << 16 | place.index;
}

int find_row(const Access &access, const Place &place) {
    uint32_t key = place_key(place);
    uint32_t slot = (uint32_t)(access.pc * 2654435761u + key * 40503u) % cache_size;
    if (cache[slot].pc == access.pc && cache[slot].place == key) return cache[slot].row;
    uint32_t line = line_of(access.pc);
    uint32_t index = 0;
    for (; index < counter_row_count; ++index) {
        const CounterRow &row = counter_rows[index];
        if (row.line == line && row.space == key >> 16 && row.place == place.index &&
            row.bytes == access.bytes && row.write == access.write) {
            break;
        }
    }
    if (index == counter_row_count) {
        if (index == max_counter_rows) return -1;
        CounterRow &row = counter_rows[counter_row_count++];
        memset(&row, 0, sizeof row);
        row.line = line;
        row.space = key >> 16;
        row.place = place.index;
        row.bytes = (uint32_t)access.bytes;
        row.write = access.write;
    }
    cache[slot] = {access.pc, key, (int)index};
    return (int)index;
}

Group *group_at(Track &track, uint32_t number) {
    if (number / group_chunk >= max_chunks) return nullptr;
    Group *&chunk = track.chunks[number / group_chunk];
    if (!chunk) chunk = (Group *)take(group_chunk * sizeof(Group));
    return chunk ? chunk + number % group_chunk : nullptr;
}

void add_shared(CounterRow &row, const WarpAccess &access, bool merged) {
    SharedCost cost = shared_cost(access);
    if (merged) {
        ++row.merged_requests;
        row.merged_wavefronts += cost.wavefronts;
        row.merged_ideal_wavefronts += cost.ideal_wavefronts;
    } else {
        row.wavefronts += cost.wavefronts;
        row.ideal_wavefronts += cost.ideal_wavefronts;
    }
}

WarpAccess warp_access(const CounterRow &row, const Group &group, uint32_t bytes) {
    WarpAccess access{group.active, {}, bytes, row.write != 0};
    memcpy(access.offset, group.offset, sizeof access.offset);
    return access;
}

bool follows(const Group &first, const Group &next, uint32_t distance) {
    if (first.active != next.active) return false;
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

// Looks for the occurrences that a compiler could load together with occurrence `first`: each lane's
// next words. They lie near it when the loop over them is the inner one, a row further when not.
constexpr uint32_t merge_reach = 1024;

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

// Neighbouring scalar loads of each lane taken together, as nvcc does where it can.
void count_merged(CounterRow &row, Track &track) {
    uint8_t *taken = (uint8_t *)take(track.count);
    if (!taken) return;
    for (uint32_t number = 0; number < track.count; ++number) {
        Group *group = group_at(track, number);
        if (taken[number] || !group || !group->active) continue;
        uint32_t found[3] = {};
        uint32_t bytes = row.bytes;
        if (row.bytes == 4 && !row.write && aligned(*group, 8)) {
            int count = partners(track, number, taken, found);
            if (count == 3 && aligned(*group, 16)) {
                bytes = 16;
            } else if (count >= 1) {
                bytes = 8;
            }
        }
        for (uint32_t index = 0; index + 1 < bytes / row.bytes; ++index) taken[found[index]] = 1;
        add_shared(row, warp_access(row, *group, bytes), true);
    }
}

void count_track(CounterRow &row, Track &track) {
    for (uint32_t number = 0; number < track.count; ++number) {
        Group *group = group_at(track, number);
        if (!group || !group->active) continue;
        WarpAccess access = warp_access(row, *group, row.bytes);
        ++row.requests;
        row.words += (uint64_t)__builtin_popcount(group->active) * row.bytes / 4;
        if (row.space == 0) {
            add_shared(row, access, false);
        } else {
            GlobalCost cost = global_cost(access);
            row.sectors += cost.sectors;
            row.ideal_sectors += cost.ideal_sectors;
        }
    }
    if (row.space == 0) count_merged(row, track);
}

// Lanes that were at a line, but not equally often, may have been put together wrongly.
bool diverged(int warp, uint32_t row) {
    uint32_t count = 0;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        const Turn &turn = turns[warp * warp_lanes + lane][row];
        if (turn.window != window[warp] || turn.count == 0) continue;
        if (count != 0 && turn.count != count) return true;
        count = turn.count;
    }
    return false;
}

void flush_warp(int warp) {
    for (uint32_t index = 0; index < counter_row_count; ++index) {
        Track *track = tracks[warp][index];
        if (!track || track->count == 0) continue;
        count_track(counter_rows[index], *track);
        if (diverged(warp, index)) counter_rows[index].approximate = 1;
        tracks[warp][index] = nullptr;
    }
    ++window[warp];
}

int warps() { return (thread_count + warp_lanes - 1) / warp_lanes; }

}  // namespace

void begin_counters_launch(bool count) {
    counting = count;
    counter_row_count = 0;
    barrier_count = 0;
    if (!count) return;
    arena_used = 0;
    memset(cache, 0, sizeof cache);
    memset(turns, 0, sizeof turns);
    memset(tracks, 0, sizeof tracks);
    for (uint32_t &number : window) number = 1;
}

void observe_counters(const Access &access, const Place &place) {
    if (access.atomic || access.bytes < 4 || access.address % access.bytes != 0) return;
    if (place.region != Region::shared && place.region != Region::operand &&
        place.region != Region::variable) {
        return;
    }
    int row = find_row(access, place);
    if (row < 0) return;
    int warp = current / warp_lanes;
    Turn &turn = turns[current][row];
    if (turn.window != window[warp]) turn = {window[warp], 0};
    Track *&track = tracks[warp][row];
    if (!track) track = (Track *)take(sizeof(Track));
    Group *group = track ? group_at(*track, turn.count) : nullptr;
    if (!group) {
        counter_rows[row].approximate = 1;
        return;
    }
    int lane = current % warp_lanes;
    group->active |= 1u << lane;
    group->offset[lane] = (uint32_t)place.offset;
    ++turn.count;
    if (turn.count > track->count) track->count = turn.count;
}

void count_block_barrier() {
    if (!counting) return;
    ++barrier_count;
    for (int warp = 0; warp < warps(); ++warp) flush_warp(warp);
    arena_used = 0;
}

void count_warp_sync(int first_thread, uint32_t lanes) {
    if (!counting) return;
    int warp = first_thread / warp_lanes;
    for (int lane = 0; lane < warp_lanes && first_thread + lane < thread_count; ++lane) {
        bool runs = threads[first_thread + lane].state != State::done;
        if (runs && !(lanes >> lane & 1u)) return;  // some lanes go on: the numbering stays
    }
    flush_warp(warp);
}

void count_block_end() {
    if (!counting) return;
    for (int warp = 0; warp < warps(); ++warp) flush_warp(warp);
    arena_used = 0;
}

}  // namespace sim
