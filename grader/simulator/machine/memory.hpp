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
extern uint16_t *shared_owner;  // a number for each word of the shared block: variable + 1, or 0
extern Variable shared_variables[max_variables];
extern uint32_t shared_variable_count;

void reserve_memory(const Hello &hello);
// Places the operands of a request; false when one does not fit its arena.
bool place_operands(const Request &request);
void set_dynamic_shared(uint32_t bytes);
void poison_shared(uint32_t pattern);
void forget_operands();

// `stack`: of the running thread; `other_stack`: local memory of another one. `literal`: what a
// compiler keeps of a text's own constants; only to be read.
enum class Region : uint8_t {
    operand, guard, shared, shared_gap, stack, other_stack, variable, literal, nowhere
};
struct Place {
    Region region;
    uint32_t index;      // operand, variable or thread number
    int64_t offset;      // bytes from its start
};
Place locate(uintptr_t address, size_t bytes);

// The bytes of each operand that may be read, and those that may be written.
struct Reach {
    uintptr_t begin;
    size_t bytes[2];  // [write]
};
extern Reach reaches[max_operands];

// The common places, without what `locate` does for all others. Inline: the hot path.

// Of an access `offset` bytes into the shared block, which begins on a boundary of 1024.
inline bool in_one_array(uintptr_t offset, size_t bytes, size_t alignment) {
    // Behind the owners of the block's words lie a few zeros.
    if (bytes > 32 && shared_end - shared_begin - offset < bytes) return false;
    uint16_t owner = shared_owner[offset / 4];
    bool one_word = bytes <= 4 && alignment >= bytes;
    return owner && (one_word || owner == shared_owner[(offset + bytes - 1) / 4]);
}

// Inside an operand that may be touched so: which one.
inline bool in_operand(uintptr_t address, size_t bytes, bool write, uint32_t &index) {
    for (index = 0; index < operand_count; ++index) {
        uintptr_t offset = address - reaches[index].begin;
        size_t size = reaches[index].bytes[write];
        if (offset < size && size - offset >= bytes) return true;
    }
    return false;
}

inline bool locate_common(uintptr_t address, size_t bytes, bool write, Place &place) {
    uint32_t index;
    uintptr_t offset = address - shared_begin;
    if (offset < shared_end - shared_begin && in_one_array(offset, bytes, 1)) {
        index = shared_owner[offset / 4] - 1u;
        uintptr_t begin = shared_begin + shared_variables[index].offset;
        place = {Region::shared, index, (int64_t)(address - begin)};
        return true;
    }
    if (!in_operand(address, bytes, write, index)) return false;
    place = {Region::operand, index, (int64_t)(address - reaches[index].begin)};
    return true;
}

}  // namespace sim
