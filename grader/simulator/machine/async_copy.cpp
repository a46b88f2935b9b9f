// The __pipeline_* primitives. A copy is made when it is waited for: a kernel that reads a stage
// too early finds what was there before, as it may on a GPU.
#include "async_copy.hpp"

#include <cstring>

#include "../observers/observers.hpp"
#include "fiber.hpp"
#include "findings.hpp"
#include "instrumentation.hpp"
#include "schedule.hpp"

namespace sim {

namespace {

struct Copy {
    char *to;
    const char *from;
    uint32_t bytes, zero_filled;
    uint64_t batch;
    uintptr_t pc;
};

// More copies in flight than this are made early, which only hides a fault, never invents one.
constexpr int max_pending = 64;

struct Queue {
    Copy copies[max_pending];
    int first, count;
    uint64_t committed;  // batches
};
Queue queues[max_fibers];

void make_oldest(Queue &queue) {
    const Copy &copy = queue.copies[queue.first];
    memcpy(copy.to, copy.from, copy.bytes - copy.zero_filled);
    memset(copy.to + copy.bytes - copy.zero_filled, 0, copy.zero_filled);
    observe_async_end({(uintptr_t)copy.to, copy.bytes, copy.bytes, true, no_atomic, copy.pc});
    queue.first = (queue.first + 1) % max_pending;
    --queue.count;
}

}  // namespace

void forget_async_copies() {
    for (int index = 0; index < thread_count; ++index) {
        queues[index].first = queues[index].count = 0;
        queues[index].committed = 0;
    }
}

}  // namespace sim

extern "C" {
void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zero_filled) {
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zero_filled > bytes) {
        if (sim::RawFinding *finding = sim::report(sim::async_copy, pc, 0)) {
            finding->offset = (int64_t)bytes;
            finding->bytes = (uint32_t)zero_filled;
        }
        sim::abort_launch();
    }
    if (zero_filled < bytes) {
        sim::access_memory((uintptr_t)from, bytes - zero_filled, bytes, false, pc);
    }
    sim::access_memory((uintptr_t)to, bytes, bytes, true, pc);
    sim::Queue &queue = sim::queues[sim::current];
    if (queue.count == sim::max_pending) sim::make_oldest(queue);
    queue.copies[(queue.first + queue.count++) % sim::max_pending] = {
        (char *)to, (const char *)from, (uint32_t)bytes, (uint32_t)zero_filled, queue.committed, pc};
    sim::observe_async_start({(uintptr_t)to, bytes, bytes, true, sim::no_atomic, pc});
}

void __pipeline_commit() { ++sim::queues[sim::current].committed; }

void __pipeline_wait_prior(size_t later_commits) {
    sim::Queue &queue = sim::queues[sim::current];
    while (queue.count > 0 && queue.copies[queue.first].batch + later_commits < queue.committed) {
        sim::make_oldest(queue);
    }
}
}
