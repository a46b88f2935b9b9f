// Fibers: the threads of a block, each with a stack of its own, all on one OS thread.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

// 64 KiB hold what a kernel keeps in registers and local memory; beyond the stack lies a guard page.
// A page more, because stacks begin at different places in a page: the tops of all of them, used in
// turn, would else share one set of the processor's cache.
constexpr size_t stack_bytes = 64 * 1024 + 4096;
constexpr int max_fibers = 1024;  // CUDA's limit of threads a block

extern uintptr_t stacks_begin, stacks_end;
// The running fiber's: its guard page and all above it up to the next one's.
extern uintptr_t own_stack_begin, own_stack_bytes;

inline bool on_own_stack(uintptr_t address) {
    return address - own_stack_begin < own_stack_bytes;
}

void reserve_stacks();
// The saved stack pointer of a fiber that starts `entry` on stack `index` when switched to.
void *prepare_fiber(int index, void (*entry)());
// The fiber whose guard page holds the address, or -1.
int fiber_of_guard(uintptr_t address);
// The fiber on whose stack an address between stacks_begin and stacks_end lies.
int fiber_at(uintptr_t address);
void enter_stack(int index);  // before the fiber is switched to

extern "C" void sim_switch(void **from, void *to);

}  // namespace sim
