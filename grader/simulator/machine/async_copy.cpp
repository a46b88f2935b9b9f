// The __pipeline_* primitives. A copy is made when it is waited for: a kernel that reads a stage
// too early finds what was there before, as it may on a GPU.
#include "async_copy.hpp"

#include <cstddef>
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
    Copy *next;  // of the same thread
};

// Of all threads of a block. Shared memory has fewer words, so with more copies under way some go
// to the same word, which the observer of order reports. Only then are copies made early.
constexpr uint32_t max_pending = 1u << 17;
Copy copies[max_pending];
uint32_t copies_used;
Copy *free_copies;

struct Queue {
    Copy *first, *last;
    uint64_t committed;  // batches
};
Queue queues[max_fibers];

Copy *take_copy() {
    if (Copy *copy = free_copies) {
        free_copies = copy->next;
        return copy;
    }
    return copies_used < max_pending ? &copies[copies_used++] : nullptr;
}

void append(Queue &queue, Copy *copy) {
    (queue.first ? queue.last->next : queue.first) = copy;
    queue.last = copy;
}

void make_oldest(Queue &queue) {
    Copy &copy = *queue.first;
    memcpy(copy.to, copy.from, copy.bytes - copy.zero_filled);
    memset(copy.to + copy.bytes - copy.zero_filled, 0, copy.zero_filled);
    observe_async_end({(uintptr_t)copy.to, copy.bytes, copy.bytes, true, no_atomic, copy.pc});
    queue.first = copy.next;
    copy.next = free_copies;
    free_copies = &copy;
}

}  // namespace

void forget_async_copies() {
    for (int index = 0; index < thread_count; ++index) {
        queues[index] = Queue{};
    }
    copies_used = 0;
    free_copies = nullptr;
}

uint64_t committed_batches(int thread) { return queues[thread].committed; }

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
    // Only what is not filled with zeros is read, but the whole must be aligned.
    bool in_pieces = zero_filled > 0 && (uintptr_t)from % bytes == 0;
    if (in_pieces && zero_filled < bytes) {
        sim::access_range((uintptr_t)from, bytes - zero_filled, false, pc);
    } else if (zero_filled < bytes) {
        sim::access_memory((uintptr_t)from, bytes - zero_filled, bytes, false, pc);
    }
    sim::access_memory((uintptr_t)to, bytes, bytes, true, pc);
    sim::Queue &queue = sim::queues[sim::current];
    sim::Copy *copy = sim::take_copy();
    for (int other = 0; !copy; ++other) {
        sim::Queue &full = queue.first ? queue : sim::queues[other];
        if (full.first) sim::make_oldest(full);
        copy = sim::take_copy();
    }
    *copy = {(char *)to, (const char *)from, (uint32_t)bytes, (uint32_t)zero_filled,
             queue.committed, pc, nullptr};
    sim::append(queue, copy);
    sim::observe_async_start({(uintptr_t)to, bytes, bytes, true, sim::no_atomic, pc});
}

void __pipeline_commit() { ++sim::queues[sim::current].committed; }

void __pipeline_wait_prior(size_t later_commits) {
    sim::Queue &queue = sim::queues[sim::current];
    while (queue.first && queue.first->batch + later_commits < queue.committed) {
        sim::make_oldest(queue);
    }
}
}
