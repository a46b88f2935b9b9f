// Runs the blocks of a grid one after another, the threads of each as fibers.
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocol.hpp"

namespace sim {

struct Position {
    int32_t thread[3], block[3];  // x, y, z
};

enum class State : uint8_t { ready, at_barrier, at_warp, asks_active, done };

// What lanes of a warp meet for.
enum class Meeting : uint8_t { barrier, vote, shuffle };

struct Thread {
    void *stack_pointer;
    State state;
    Meeting meeting;
    uintptr_t pc;               // where it waits
    uint32_t mask;              // lanes it waits for
    int predicate;              // its vote at a barrier or a ballot
    int source;                 // the lane whose value it wants
    unsigned long long value;   // what it brings to a shuffle
    // Handed over when the wait ends, so that a partner that runs ahead cannot change it:
    int votes;                  // true predicates of the block
    uint32_t ballot;            // lanes with a true predicate, or active ones
    unsigned long long received;
};

extern Thread threads[];
extern int thread_count, current;

Position position();
Position position_of(int thread);

// The block that was run as number `run` of this launch, counted from 0.
void block_of_run(uint32_t run, int32_t (&block)[3]);

// Runs the launch; findings and output are left in their modules. Status finished or aborted.
Status run_grid(const Request &request);

// Called on a fiber: wait until all live threads of the block are there; the number of true
// predicates among them.
int wait_at_barrier(int predicate, uintptr_t pc);
// Wait for the lanes of `mask`. What the thread brings and wants is set before, what it gets is
// there afterwards.
void wait_for_lanes(uint32_t mask, Meeting meeting, uintptr_t pc);
// The lanes of the warp that come to the same call, when no thread can run on without it.
uint32_t ask_active_lanes(uintptr_t pc);
// Let other threads run first.
void let_others_run();
// End this launch at once: an access that would harm the worker, a trap, a failed assertion.
[[noreturn]] void abort_launch();

}  // namespace sim
