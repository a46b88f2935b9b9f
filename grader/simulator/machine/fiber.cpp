#include "fiber.hpp"

#include "platform.hpp"

namespace sim {

uintptr_t stacks_begin, stacks_end, own_stack_begin, own_stack_bytes;

namespace {
size_t guard_bytes, stride;
// Of the tops of stacks: see stack_bytes.
constexpr int places_in_page = 16;
constexpr size_t place_bytes = 256;
#if defined(__x86_64__)
constexpr size_t saved_words = 6;  // as many as sim_switch pops before it returns
#elif defined(__aarch64__)
constexpr size_t saved_words = 20;
constexpr size_t return_word = 11;  // x30
#else
#error "no fiber_<architecture>.S for this processor yet"
#endif
}  // namespace

void reserve_stacks() {
    guard_bytes = page_bytes();
    stride = stack_bytes + guard_bytes;
    stacks_begin = (uintptr_t)reserve(stride * max_fibers + guard_bytes);
    stacks_end = stacks_begin + stride * max_fibers + guard_bytes;
    for (int index = 0; index <= max_fibers; ++index) {
        protect((void *)(stacks_begin + index * stride), guard_bytes);
    }
}

void enter_stack(int index) {
    own_stack_begin = stacks_begin + index * stride;
    own_stack_bytes = stride;
}

int fiber_at(uintptr_t address) { return (int)((address - stacks_begin) / stride); }

void *prepare_fiber(int index, void (*entry)()) {
    uintptr_t top = stacks_begin + guard_bytes + index * stride + stack_bytes;
    top -= (uintptr_t)(index % places_in_page) * place_bytes;
#if defined(__x86_64__)
    // At its first instruction a function expects the stack 8 bytes off a multiple of 16.
    uintptr_t *words = (uintptr_t *)(top - 16) - saved_words;
    words[saved_words] = (uintptr_t)entry;
    words[saved_words + 1] = 0;
#else
    uintptr_t *words = (uintptr_t *)top - saved_words;
    words[return_word] = (uintptr_t)entry;
    words[return_word - 1] = 0;
#endif
    return words;
}

int fiber_of_guard(uintptr_t address) {
    if (address < stacks_begin || address >= stacks_end) return -1;
    uintptr_t offset = address - stacks_begin;
    return offset % stride < guard_bytes ? (int)(offset / stride) : -1;
}

}  // namespace sim
