// Where the compilers' instrumentation enters the machine.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../observers/observers.hpp"

namespace sim {

extern uintptr_t last_pc;  // the code of the latest access

// Every access of the kernel comes through here before it happens.
void access_memory(uintptr_t address, size_t bytes, size_t alignment, bool write, uintptr_t pc,
                   Atomic atomic = no_atomic);
// The same for what has no width of its own: in pieces as a GPU moves it.
void access_range(uintptr_t address, size_t bytes, bool write, uintptr_t pc,
                  bool is_volatile = false);
// Whether observers follow every access of this launch, not only the faulty ones.
extern bool watching;
extern uint32_t watched;  // Watch flags of this launch
// Of the shared block, 0 when watching: one comparison for both in the hot path.
extern size_t unwatched_shared_bytes;

}  // namespace sim
