// What kernels call: barriers, warp-level operations, assertions, the clock.
#include <cstdint>

#include "findings.hpp"
#include "schedule.hpp"

extern "C" {

#define PC ((uintptr_t)__builtin_return_address(0))

void __syncthreads() { sim::wait_at_barrier(0, PC); }
int __syncthreads_count(int predicate) { return sim::wait_at_barrier(predicate, PC); }
int __syncthreads_or(int predicate) { return sim::wait_at_barrier(predicate, PC) > 0; }
int __syncthreads_and(int predicate) { return sim::wait_at_barrier(!predicate, PC) == 0; }

void sim_sync_warp(unsigned int mask) { sim::wait_for_lanes(mask, sim::Meeting::barrier, PC); }

unsigned int sim_ballot(unsigned int mask, int predicate) {
    sim::Thread &self = sim::threads[sim::current];
    self.predicate = predicate;
    sim::wait_for_lanes(mask, sim::Meeting::vote, PC);
    return self.ballot;
}

unsigned int __activemask() {
    return sim::ask_active_lanes(PC);
}

// The lane each mode reads from, as the CUDA programming guide defines it; lanes whose source
// lies outside their segment of `width` keep their own value.
unsigned long long sim_shuffle(unsigned int mask, unsigned long long value, int lane_or_delta,
                               int width, int mode) {
    sim::Thread &self = sim::threads[sim::current];
    int lane = sim::current % 32;
    int segment = lane / width * width;
    int source = lane;
    switch (mode) {
        case 0: source = segment + (lane_or_delta & (width - 1)); break;
        case 1: source = lane - lane_or_delta >= segment ? lane - lane_or_delta : lane; break;
        case 2: source = lane + lane_or_delta < segment + width ? lane + lane_or_delta : lane; break;
        default: source = (lane ^ lane_or_delta) < segment + width ? lane ^ lane_or_delta : lane;
    }
    self.value = value;
    self.source = source;
    sim::wait_for_lanes(mask, sim::Meeting::shuffle, PC);
    return self.received;
}

void sim_assertion_failed(const char *expression, int line) {
    if (sim::RawFinding *finding = sim::report(sim::assertion, PC, 0)) {
        finding->line = (uint32_t)line;
        sim::set_text(*finding, expression);
    }
    sim::abort_launch();
}

void sim_trap() {
    sim::report(sim::trap, PC, 0);
    sim::abort_launch();
}

// Steps of this launch, not time: results must not depend on how busy the machine is.
long long sim_clock() {
    static long long ticks;
    return ticks += 16;
}
}
