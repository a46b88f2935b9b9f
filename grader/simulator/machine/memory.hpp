// The memory a kernel may touch: operands with their guards, shared arrays, variables, stacks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocol.hpp"

namespace sim {

struct Operand {
    uintptr_t begin, end;              // the matrix
    uintptr_t image_begin, image_end;  // with its guards
    uintptr_t arena, arena_end;        // reserved for it, guards of the arena around
    bool may_be_written, starts_unset;
};

extern Operand operands[max_operands];
extern uint32_t operand_count;
extern Variable globals[max_globals];
extern uint32_t global_count;
extern uintptr_t shared_begin, shared_end;
extern uint8_t *shared_owner;  // a byte for each word of the shared block: variable + 1, or 0
extern Variable shared_variables[max_variables];

void reserve_memory(const Hello &hello);
// Places the operands of a request; false when one does not fit its arena.
bool place_operands(const Request &request);
void set_dynamic_shared(uint32_t bytes);
void poison_shared(uint32_t pattern);
void forget_operands();

enum class Region : uint8_t { operand, guard, shared, shared_gap, stack, variable, nowhere };
struct Place {
    Region region;
    uint32_t index;      // operand or variable number
    int64_t offset;      // bytes from its start
};
Place locate(uintptr_t address, size_t bytes);

}  // namespace sim
