#include "schedule.hpp"

#include "../observers/observers.hpp"
#include "async_copy.hpp"
#include "fiber.hpp"
#include "findings.hpp"
#include "instrumentation.hpp"
#include "lanes.hpp"
#include "memory.hpp"

namespace {
struct Triple {
    unsigned int x, y, z;
};
Triple threadIdx, blockIdx, blockDim, gridDim;

Triple triple_of(uint64_t number, const Triple &size) {
    return {(unsigned)(number % size.x), (unsigned)(number / size.x % size.y),
            (unsigned)(number / size.x / size.y)};
}
}  // namespace

// The built-in variables as kernels see them (include/cuda_runtime.h).
extern "C" {
Triple sim_thread_index() { return threadIdx; }
Triple sim_block_index() { return blockIdx; }
Triple sim_block_dim() { return blockDim; }
Triple sim_grid_dim() { return gridDim; }
}

extern "C" void sim_kernel(void *const *operand_pointers, const int64_t *scalars);

namespace sim {

Thread threads[max_fibers];
int thread_count, current;

namespace {

void *scheduler_stack;
bool abort_requested;
const Request *running;
void *operand_pointers[max_operands];
int turn_order[max_fibers];

uint64_t next_random(uint64_t &state) {  // splitmix64 (Vigna, public domain algorithm)
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Order 0: as numbered. 1: the last first, the opposite of what beginners assume. Else shuffled.
void draw_turns(uint64_t order, uint64_t block) {
    for (int index = 0; index < thread_count; ++index) {
        turn_order[index] = order == 1 ? thread_count - 1 - index : index;
    }
    if (order < 2) return;
    uint64_t state = order * 0x2545f4914f6cdd1dull + block;
    for (int index = thread_count - 1; index > 0; --index) {
        int other = (int)(next_random(state) % (uint64_t)(index + 1));
        int kept = turn_order[index];
        turn_order[index] = turn_order[other];
        turn_order[other] = kept;
    }
}

void yield() {
    if (watched & watch_order) observe_switch();
    sim_switch(&threads[current].stack_pointer, scheduler_stack);
}

void run_kernel() {
    sim_kernel(operand_pointers, running->scalars);
    threads[current].state = State::done;
    yield();
    __builtin_trap();  // a finished fiber is never resumed
}

void resume(int thread) {
    current = thread;
    enter_stack(thread);
    threadIdx = triple_of((uint64_t)thread, blockDim);
    sim_switch(&scheduler_stack, threads[thread].stack_pointer);
}

bool release_barrier() {
    int waiting = 0, alive = 0, votes = 0;
    for (int index = 0; index < thread_count; ++index) {
        alive += threads[index].state != State::done;
        if (threads[index].state != State::at_barrier) continue;
        ++waiting;
        votes += threads[index].predicate != 0;
    }
    if (waiting == 0 || waiting < alive) return false;
    observe_barrier(thread_count);
    observe_block_barrier();
    count_block_barrier();
    for (int index = 0; index < thread_count; ++index) {
        if (threads[index].state != State::at_barrier) continue;
        threads[index].state = State::ready;
        threads[index].votes = votes;
    }
    return true;
}

int64_t blocks() {
    return (int64_t)running->grid_x * running->grid_y * running->grid_z;
}

int64_t block_at(int64_t turn) {
    if (running->only_block >= 0) return running->only_block;
    return running->order % 2 ? blocks() - 1 - turn : turn;
}

// Where threads do not run in the order of their numbers, a warp that has met goes on at once: as
// on a GPU, where a warp waits for no other one. Else what synchronises a warp would look as if it
// kept the whole block together. False when the launch is to end.
bool run(int thread) {
    int warp = thread / warp_lanes * warp_lanes;
    uint32_t going = 1u << (thread - warp);
    while (going) {
        uint32_t released = 0;
        for (int lane = 0; lane < warp_lanes; ++lane) {
            if (!(going >> lane & 1u)) continue;
            resume(warp + lane);
            if (abort_requested) return false;
            if (running->order > 0) released |= release_with(warp + lane);
        }
        going = released;
    }
    return true;
}

bool run_block() {
    for (int index = 0; index < thread_count; ++index) {
        threads[index] = Thread{};
        threads[index].stack_pointer = prepare_fiber(index, run_kernel);
    }
    forget_async_copies();
    begin_order_block();
    poison_shared(running->poison);
    for (;;) {
        bool ran = false;
        for (int turn = 0; turn < thread_count; ++turn) {
            int thread = turn_order[turn];
            if (threads[thread].state != State::ready) continue;
            ran = true;
            if (!run(thread)) return false;
        }
        if (ran || release_lanes() || release_active() || release_barrier()) continue;
        for (int index = 0; index < thread_count; ++index) {
            if (threads[index].state == State::done) continue;
            report_deadlock();
            return false;
        }
        count_block_end();
        return true;
    }
}

}  // namespace

Position position_of(int thread) {
    Triple index = triple_of((uint64_t)thread, blockDim);
    return {{(int32_t)index.x, (int32_t)index.y, (int32_t)index.z},
            {(int32_t)blockIdx.x, (int32_t)blockIdx.y, (int32_t)blockIdx.z}};
}

void block_of_run(uint32_t run, int32_t (&block)[3]) {
    Triple index = triple_of((uint64_t)block_at(run), gridDim);
    block[0] = (int32_t)index.x;
    block[1] = (int32_t)index.y;
    block[2] = (int32_t)index.z;
}

Position position() { return position_of(current); }

Status run_grid(const Request &request) {
    running = &request;
    abort_requested = false;
    blockDim = {(unsigned)request.block_x, (unsigned)request.block_y, (unsigned)request.block_z};
    gridDim = {(unsigned)request.grid_x, (unsigned)request.grid_y, (unsigned)request.grid_z};
    thread_count = request.block_x * request.block_y * request.block_z;
    current = 0;
    set_dynamic_shared(request.dynamic_shared);
    watched = request.watch;
    watching = watched != 0;
    bool shared_too = watched & (watch_order | watch_counts);
    unwatched_shared_bytes = shared_too ? 0 : shared_end - shared_begin;
    begin_order_launch(watched & watch_order);
    begin_counters_launch(watched & watch_counts);
    begin_sparse_launch();
    begin_lanes_launch(request.poison);
    for (uint32_t index = 0; index < operand_count; ++index) {
        operand_pointers[index] = (void *)operands[index].begin;
    }
    for (int64_t turn = 0; turn < blocks(); ++turn) {
        int64_t block = block_at(turn);
        blockIdx = triple_of((uint64_t)block, gridDim);
        draw_turns(request.order, (uint64_t)block);
        if (!run_block()) return aborted;
        if (request.only_block >= 0) break;
    }
    return finished;
}

int wait_at_barrier(int predicate, uintptr_t pc) {
    Thread &self = threads[current];
    self.state = State::at_barrier;
    self.predicate = predicate;
    self.pc = pc;
    yield();
    return self.votes;
}

void wait_for_lanes(uint32_t mask, Meeting meeting, uintptr_t pc) {
    Thread &self = threads[current];
    self.state = State::at_warp;
    self.meeting = meeting;
    self.mask = mask;
    self.pc = pc;
    yield();
}

uint32_t ask_active_lanes(uintptr_t pc) {
    Thread &self = threads[current];
    self.state = State::asks_active;
    self.pc = pc;
    yield();
    return self.ballot;
}

void let_others_run() { yield(); }

void abort_launch() {
    abort_requested = true;
    yield();
    __builtin_trap();
}

}  // namespace sim
