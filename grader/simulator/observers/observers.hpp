// What looks at events of the machine and reports faults: one observer per file.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../machine/memory.hpp"

namespace sim {

enum Atomic : uint8_t { no_atomic = 0, exchanges, updates };  // does it use the old value?

struct Access {
    uintptr_t address;
    size_t bytes;
    size_t alignment;  // that the instruction needs
    bool write;
    Atomic atomic;
    uintptr_t pc;
    bool is_volatile = false;  // made as it is written, never merged with others
    bool continues = false;    // a further piece of what one instruction does
};

// bounds.cpp: outside A, B, C and the shared arrays. False when the access must not happen.
bool observe_bounds(const Access &access, const Place &place);
// bounds.cpp: an array indexed beyond its type, as the compiler's check saw it.
void observe_array_index(const char *type, int64_t index, uint32_t line, uint32_t column,
                         uintptr_t pc);
// overflow.cpp: signed arithmetic whose result does not fit its type.
void observe_overflow(int64_t left, char operation, int64_t right, uint32_t line, uintptr_t pc);
// alignment.cpp: vector accesses. False when the access must not happen.
bool observe_alignment(const Access &access, const Place &place);
// alignment.cpp: the same, where only the source line can tell whether it is a fault.
void observe_unaligned(const Access &access, const Place &place);
// inputs.cpp: writes to A or B.
void observe_inputs(const Access &access, const Place &place);
// order.cpp: races, and reads of memory that nothing has written.
void reserve_order();  // for the operands of all launches to come
void begin_order_launch(bool watch);
void begin_order_block();
void observe_order(const Access &access, const Place &place);
void observe_async_start(const Access &access);
void observe_async_end(const Access &access);
void observe_switch();  // the running thread is about to be left
void observe_block_barrier();
void observe_warp_sync(int warp, uint32_t lanes, bool ordered);
// counters.cpp: what hardware counters count, for each source line.
void reserve_occurrences();
void begin_counters_launch(bool count);
void observe_counters(const Access &access, const Place &place);
void count_iteration();  // the running thread's, of a loop that is not unrolled
void count_block_barrier();
void count_warp_sync(int first_thread, uint32_t lanes);
void count_block_end();
// sparse.cpp: the inputs of a sparse launch, and what its block loads and stores.
void begin_sparse_launch();
void observe_sparse(const Access &access, const Place &place);
// barrier.cpp: a barrier about to open: did all threads come, and to the same one?
void observe_barrier(int thread_count);

}  // namespace sim
