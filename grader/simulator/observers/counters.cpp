// Counts what hardware counters count, for each source line: requests, sectors, wavefronts, bank
// conflicts.
//
// Threads run one after another, so the accesses that a warp makes together are put together
// afterwards: the n-th access of a line by a lane since the last barrier belongs to the n-th access
// of that line by the other lanes, or, where lanes skipped some, to the one at the same distance.
#include "counters.hpp"

#include <cstring>

#include "../machine/fiber.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"
#include "occurrences.hpp"
#include "warp_access.hpp"

namespace sim {

CounterRow counter_rows[max_counter_rows];
uint32_t counter_row_count;
uint64_t barrier_count, uncounted;
LineRow line_rows[max_line_rows];
uint32_t line_row_count;

namespace {

constexpr int max_warps = max_fibers / warp_lanes;

// What besides the line tells one row from another.
constexpr uint32_t volatile_key = 1u << 31;
uint32_t keys[max_counter_rows];

struct Turn {  // how often a thread has been at a row, or a loop's end, since the last barrier
    uint32_t window, count;
};

bool counting;
Track *tracks[max_warps][max_counter_rows];
Turn turns[max_counter_rows][max_fibers];  // a block's threads run in turn: neighbours in memory
Turn iterations[max_fibers];
uint32_t window[max_warps];

struct Cached {
    uintptr_t pc;
    uint32_t key;
    int row;
};
constexpr uint32_t cache_size = 1u << 14;
Cached cache[cache_size];

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

uint32_t space_of(const Place &place) {
    return place.region == Region::shared ? 0 : place.region == Region::operand ? 1 : 2;
}

uint32_t kind_of(const Access &access) { return access.atomic ? atomic : access.write ? store : load; }

uint32_t key_of(const Access &access, const Place &place) {
    uint32_t key = place.index | space_of(place) << 16 | kind_of(access) << 18;
    return key | (uint32_t)access.bytes << 20 | (access.is_volatile ? volatile_key : 0);
}

int find_row(const Access &access, const Place &place) {
    uint32_t key = key_of(access, place);
    uint32_t slot = (uint32_t)(access.pc * 2654435761u + key * 40503u) % cache_size;
    if (cache[slot].pc == access.pc && cache[slot].key == key) return cache[slot].row;
    uint32_t line = line_of(access.pc);
    uint32_t index = 0;
    while (index < counter_row_count && (counter_rows[index].line != line || keys[index] != key)) {
        ++index;
    }
    if (index == counter_row_count) {
        if (index == max_counter_rows) return -1;
        CounterRow &row = counter_rows[counter_row_count++];
        memset(&row, 0, sizeof row);
        row.line = line;
        row.space = space_of(place);
        row.place = place.index;
        row.bytes = (uint32_t)access.bytes;
        row.access = kind_of(access);
        keys[index] = key;
    }
    cache[slot] = {access.pc, key, (int)index};
    return (int)index;
}

// Keeps the first of the most expensive requests, for a picture of it.
void remember_worst(CounterRow &row, const WarpAccess &access, uint32_t cost, uint32_t ideal,
                    uint32_t group, int warp) {
    if (cost <= row.worst_cost) return;
    row.worst_cost = cost;
    row.worst_ideal = ideal;
    row.worst_group = group;
    row.worst_warp = (uint32_t)warp;
    Position at = position();
    row.worst_block_x = at.block[0];
    row.worst_block_y = at.block[1];
    row.worst_block_z = at.block[2];
    row.worst_active = access.active;
    memcpy(row.worst_offset, access.offset, sizeof row.worst_offset);
}

void add_shared(CounterRow &row, const WarpAccess &access, int warp) {
    SharedCost cost = shared_cost(access);
    row.wavefronts += cost.wavefronts;
    row.ideal_wavefronts += cost.ideal_wavefronts;
    remember_worst(row, access, cost.wavefronts, cost.ideal_wavefronts, cost.group_lanes, warp);
}

void add_merged(CounterRow &row, const WarpAccess &access) {
    SharedCost cost = shared_cost(access);
    ++row.merged_requests;
    row.merged_wavefronts += cost.wavefronts;
    row.merged_ideal_wavefronts += cost.ideal_wavefronts;
}

void add_global(CounterRow &row, const WarpAccess &access, int warp) {
    GlobalCost cost = global_cost(access);
    row.sectors += cost.sectors;
    row.ideal_sectors += cost.ideal_sectors;
    remember_worst(row, access, cost.sectors, cost.ideal_sectors, warp_lanes, warp);
}

WarpAccess warp_access(const CounterRow &row, const Group &group, uint32_t bytes) {
    WarpAccess access{group.active, {}, bytes, row.access != load};
    memcpy(access.offset, group.offset, sizeof access.offset);
    return access;
}

void count_merged(CounterRow &row, Track &track) {
    uint32_t count;
    Load *loads = merge_loads(track, row.bytes, &count);
    if (!loads) uncounted += track.count;
    for (uint32_t index = 0; loads && index < count; ++index) {
        add_merged(row, warp_access(row, *loads[index].group, loads[index].bytes));
    }
}

// The words of one lane's access; narrower accesses count as one, and so do atomic operations.
uint32_t words_of(const CounterRow &row) {
    return row.bytes < 4 || row.access == atomic ? 1 : row.bytes / 4;
}

void count_track(CounterRow &row, Track &track, int warp) {
    bool may_merge = row.space == 0 && row.access == load && !(keys[&row - counter_rows] & volatile_key);
    for (uint32_t number = 0; number < track.count; ++number) {
        Group *group = group_at(track, number);
        if (!group->active) continue;
        WarpAccess access = warp_access(row, *group, row.bytes);
        ++row.requests;
        row.words += (uint64_t)__builtin_popcount(group->active) * words_of(row);
        if (row.space == 0) {
            add_shared(row, access, warp);
            if (!may_merge) add_merged(row, access);
        } else {
            add_global(row, access, warp);
        }
    }
    if (may_merge) count_merged(row, track);
}

// How often each lane was at a row; whether those that were there were so equally often.
bool count_turns(int warp, uint32_t row, uint32_t *counts) {
    uint32_t common = 0;
    bool equal = true;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        const Turn &turn = turns[row][warp * warp_lanes + lane];
        counts[lane] = turn.window == window[warp] ? turn.count : 0;
        if (counts[lane] == 0) continue;
        if (common != 0 && counts[lane] != common) equal = false;
        common = counts[lane];
    }
    return equal;
}

void flush_warp(int warp) {
    for (uint32_t index = 0; index < counter_row_count; ++index) {
        Track *track = tracks[warp][index];
        if (!track || track->count == 0) continue;
        uint32_t counts[warp_lanes];
        if (!count_turns(warp, index, counts)) {
            counter_rows[index].approximate = 1;
            if (!realign(*track, counts)) uncounted += track->count;
        }
        count_track(counter_rows[index], *track, warp);
        tracks[warp][index] = nullptr;
    }
    ++window[warp];
}

int warps() { return (thread_count + warp_lanes - 1) / warp_lanes; }

}  // namespace

void begin_counters_launch(bool count) {
    counting = count;
    counter_row_count = 0;
    barrier_count = uncounted = 0;
    if (!count) return;
    forget_occurrences();
    memset(cache, 0, sizeof cache);
    memset(tracks, 0, sizeof tracks);
    for (uint32_t &number : window) ++number;  // which makes every turn so far an old one
}

void observe_counters(const Access &access, const Place &place) {
    if (place.region != Region::shared && place.region != Region::operand &&
        place.region != Region::variable) {
        return;
    }
    int row = find_row(access, place);
    if (row < 0) {
        ++uncounted;
        return;
    }
    uint32_t warp = (uint32_t)current / warp_lanes, lane = (uint32_t)current % warp_lanes;
    Turn &turn = turns[row][current];
    if (turn.window != window[warp]) turn = {window[warp], 0};
    Track *&track = tracks[warp][row];
    if (!track) track = take_track();
    Group *group = nullptr;
    if (track && turn.count < track->count) {
        group = group_at(*track, turn.count);
    } else if (track && (group = add_group(*track))) {
        const Turn &iteration = iterations[current];
        group->iteration = iteration.window == window[warp] ? iteration.count : 0;
    }
    if (!group) {
        ++uncounted;
        return;
    }
    group->active |= 1u << lane;
    group->offset[lane] = (uint32_t)place.offset;
    ++turn.count;
}

void count_iteration() {
    if (!counting) return;
    uint32_t now = window[current / warp_lanes];
    Turn &iteration = iterations[current];
    if (iteration.window != now) iteration = {now, 0};
    ++iteration.count;
}

void count_block_barrier() {
    if (!counting) return;
    ++barrier_count;
    for (int warp = 0; warp < warps(); ++warp) flush_warp(warp);
    forget_occurrences();
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
    forget_occurrences();
}

}  // namespace sim
