#include "lanes.hpp"

#include <algorithm>
#include <cstring>

#include "../observers/observers.hpp"
#include "findings.hpp"
#include "schedule.hpp"

namespace sim {

namespace {

unsigned long long unset_value;

// A lane asks for the value of one that brings none: CUDA leaves open what it gets.
void report_unset(int thread) {
    int running = current;
    current = thread;
    const Thread &self = threads[thread];
    RawFinding *finding = report(unset_lane, self.pc, 0);
    current = running;
    if (!finding) return;
    finding->offset = self.source;
    bool named = self.mask >> self.source & 1u;
    bool exists = thread / warp_lanes * warp_lanes + self.source < thread_count;
    set_text(*finding, !named ? "unnamed" : exists ? "returned" : "missing");
}

unsigned long long value_for(int thread, uint32_t arrived) {
    int source = threads[thread].source;
    if (source < 0 || source >= warp_lanes) return threads[thread].value;
    if (arrived >> source & 1u) return threads[thread / warp_lanes * warp_lanes + source].value;
    report_unset(thread);
    return unset_value;
}

void hand_over(int warp, uint32_t arrived) {
    uint32_t ballot = 0;
    bool ordered = true;  // only __syncwarp does that, not a vote or a shuffle
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(arrived >> lane & 1u)) continue;
        const Thread &thread = threads[warp + lane];
        if (thread.predicate) ballot |= 1u << lane;
        ordered = ordered && thread.meeting == Meeting::barrier;
    }
    observe_warp_sync(warp, arrived, ordered);
    count_warp_sync(warp, arrived);
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(arrived >> lane & 1u)) continue;
        Thread &thread = threads[warp + lane];
        if (thread.meeting == Meeting::shuffle) thread.received = value_for(warp + lane, arrived);
        thread.ballot = ballot;
        thread.state = State::ready;
    }
}

bool waits_with(const Thread &thread, uint32_t mask) {
    return thread.state == State::at_warp && thread.mask == mask;
}

// Barriers open when every thread that still runs is there: if nothing goes on, a lane waits for
// others of its mask, which wait elsewhere, or its own mask leaves it out.
int stuck_lane() {
    int first = -1;
    for (int index = 0; index < thread_count; ++index) {
        if (threads[index].state != State::at_warp) continue;
        if (!(threads[index].mask >> index % warp_lanes & 1u)) return index;
        if (first < 0) first = index;
    }
    return first;
}

}  // namespace

void begin_lanes_launch(uint32_t poison) {
    unset_value = poison | (unsigned long long)poison << 32;
}

// A lane goes on when every lane of its mask that still runs waits with the same mask.
uint32_t release_with(int thread) {
    if (threads[thread].state != State::at_warp) return 0;
    int warp = thread / warp_lanes * warp_lanes;
    uint32_t mask = threads[thread].mask, arrived = 0;
    // The last lane first: it arrives last, so that the others are seldom looked at in vain.
    for (int lane = std::min(warp_lanes, thread_count - warp) - 1; lane >= 0; --lane) {
        if (!(mask >> lane & 1u)) continue;
        const Thread &partner = threads[warp + lane];
        if (partner.state == State::done) continue;
        if (!waits_with(partner, mask)) return 0;
        arrived |= 1u << lane;
    }
    hand_over(warp, arrived);
    return arrived;
}

bool release_lanes() {
    uint32_t released = 0;
    for (int thread = 0; thread < thread_count; ++thread) released |= release_with(thread);
    return released != 0;
}

// Lanes that ask who is active are told of all that came to the same call: as many of a warp as
// there can be, which is what converged lanes see on a GPU.
bool release_active() {
    bool released = false;
    for (int first = 0; first < thread_count; ++first) {
        if (threads[first].state != State::asks_active) continue;
        int warp = first / warp_lanes * warp_lanes;
        uint32_t active = 0;
        for (int lane = 0; lane < warp_lanes && warp + lane < thread_count; ++lane) {
            const Thread &other = threads[warp + lane];
            bool here = other.state == State::asks_active && other.pc == threads[first].pc;
            if (here) active |= 1u << lane;
        }
        for (int lane = 0; lane < warp_lanes; ++lane) {
            if (!(active >> lane & 1u)) continue;
            threads[warp + lane].ballot = active;
            threads[warp + lane].state = State::ready;
        }
        released = true;
    }
    return released;
}

void report_deadlock() {
    current = stuck_lane();
    const Thread &self = threads[current];
    int warp = current / warp_lanes * warp_lanes, other = -1, missing = 0;
    for (int index = warp; index < std::min(warp + warp_lanes, thread_count); ++index) {
        bool named = self.mask >> (index - warp) & 1u;
        if (!named || threads[index].state == State::done) continue;
        if (waits_with(threads[index], self.mask)) continue;
        if (other < 0) other = index;
        ++missing;
    }
    bool at_barrier = other >= 0 && threads[other].state == State::at_barrier;
    RawFinding *finding = report(deadlock, self.pc, at_barrier);
    if (!finding) return;
    finding->offset = self.mask;
    finding->bytes = (uint32_t)missing;
    if (other < 0) return;
    finding->pc_other = threads[other].pc;
    Position at = position_of(other);
    memcpy(finding->other, at.thread, sizeof at.thread);
}

}  // namespace sim
