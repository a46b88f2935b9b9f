#include "memory.hpp"

#include <cstring>

#include "fiber.hpp"
#include "platform.hpp"

namespace sim {

Operand operands[max_operands];
uint32_t operand_count;
Reach reaches[max_operands];
Variable globals[max_globals];
uint32_t global_count;
uintptr_t shared_begin, shared_end;
uint16_t *shared_owner;
Variable shared_variables[max_variables];
uint32_t shared_variable_count;

namespace {

// A matrix of the contract has less than 2^31 words (8 GiB); its guards and room for a wild index
// lie on both sides. The reservation costs address space only, which some sandboxes ration: only as
// many arenas as the contract has matrices are that large.
constexpr size_t large_arena = (size_t)12 << 30, small_arena = (size_t)512 << 20;
constexpr int large_arenas = 3;
constexpr size_t alignment = 256;  // as from cudaMalloc

int dynamic_variable = -1;

void own_words(int variable, uint64_t bytes) {
    const Variable &array = shared_variables[variable];
    uint16_t *owner = shared_owner + array.offset / 4;
    for (uint64_t word = 0; word < (bytes + 3) / 4; ++word) {
        owner[word] = (uint16_t)(variable + 1);
    }
}

}  // namespace

extern "C" thread_local char sim_shared_anchor[];
// Between the two lies what a program only reads; the linker and the C library define them.
extern "C" const char etext[], __data_start[];

void reserve_memory(const Hello &hello) {
    for (int index = 0; index < max_operands; ++index) {
        size_t bytes = index < large_arenas ? large_arena : small_arena;
        operands[index].arena = (uintptr_t)reserve(bytes);
        operands[index].arena_end = operands[index].arena + bytes;
    }
    shared_begin = (uintptr_t)&sim_shared_anchor[0] - hello.anchor_offset;
    shared_end = shared_begin + hello.shared_bytes;
    shared_owner = (uint16_t *)reserve((hello.shared_bytes / 4 + 16) * sizeof *shared_owner);
    global_count = hello.global_count;
    memcpy(globals, hello.globals, sizeof globals);
    shared_variable_count = hello.variable_count;
    for (uint32_t index = 0; index < hello.variable_count; ++index) {
        shared_variables[index] = hello.variables[index];
        if (hello.variables[index].offset == hello.dynamic_offset) {
            dynamic_variable = (int)index;
        } else {
            own_words((int)index, hello.variables[index].bytes);
        }
    }
}

void set_dynamic_shared(uint32_t bytes) {
    if (dynamic_variable < 0) return;
    own_words(dynamic_variable, bytes);
    const Variable &array = shared_variables[dynamic_variable];
    size_t used = (bytes + 3) / 4;
    memset(shared_owner + array.offset / 4 + used, 0,
           (array.bytes / 4 - used) * sizeof *shared_owner);
}

bool place_operands(const Request &request) {
    if (request.operand_count > max_operands) return false;
    operand_count = request.operand_count;
    for (uint32_t index = 0; index < operand_count; ++index) {
        Operand &operand = operands[index];
        size_t guard = request.guard[index] * 4;
        size_t bytes = request.bytes[index];
        size_t before = (guard + alignment - 1) / alignment * alignment;
        // In the middle of the arena, so that indices far outside on either side are still ours.
        size_t room = (operand.arena_end - operand.arena) / 12;
        operand.begin = operand.arena + room / alignment * alignment + before;
        operand.end = operand.begin + bytes;
        operand.image_begin = operand.begin - guard;
        operand.image_end = operand.begin + (bytes + 3) / 4 * 4 + guard;
        operand.may_be_written = request.roles[index] & writable;
        operand.starts_unset = request.roles[index] & unset;
        reaches[index] = {operand.begin, {bytes, operand.may_be_written ? bytes : 0}};
        if (operand.image_end > operand.arena_end) return false;
    }
    return true;
}

void forget_operands() {
    for (uint32_t index = 0; index < operand_count; ++index) {
        const Operand &operand = operands[index];
        discard((void *)operand.arena, operand.arena_end - operand.arena);
    }
}

void poison_shared(uint32_t pattern) {
    for (uint32_t index = 0; index < shared_variable_count; ++index) {
        const Variable &array = shared_variables[index];
        uint16_t *owner = shared_owner + array.offset / 4;
        uint32_t *words = (uint32_t *)(shared_begin + array.offset);
        size_t count = (array.bytes + 3) / 4;  // a gap follows the last byte of each
        for (size_t word = 0; word < count && owner[word]; ++word) words[word] = pattern;
    }
}

Place locate(uintptr_t address, size_t bytes) {
    if (address >= shared_begin && address < shared_end) {
        size_t word = (address - shared_begin) / 4;
        size_t last = (address + bytes - 1 - shared_begin) / 4;
        uint16_t owner = shared_owner[word];
        if (owner && last < (shared_end - shared_begin) / 4 && shared_owner[last] == owner) {
            uint32_t variable = owner - 1u;
            return {Region::shared, variable,
                    (int64_t)(address - shared_begin - shared_variables[variable].offset)};
        }
        return {Region::shared_gap, 0, (int64_t)(address - shared_begin)};
    }
    if (on_own_stack(address)) return {Region::stack, 0, 0};
    if (address >= stacks_begin && address < stacks_end) {
        return {Region::other_stack, (uint32_t)fiber_at(address), 0};
    }
    for (uint32_t index = 0; index < operand_count; ++index) {
        const Operand &operand = operands[index];
        int64_t offset = (int64_t)(address - operand.begin);
        if (address >= operand.begin && address + bytes <= operand.end) {
            return {Region::operand, index, offset};
        }
        if (address >= operand.image_begin && address + bytes <= operand.image_end) {
            return {Region::guard, index, offset};
        }
        if (address >= operand.arena && address < operand.arena_end) {
            return {Region::nowhere, index + 1, offset};
        }
    }
    for (uint32_t index = 0; index < global_count; ++index) {
        uintptr_t begin = globals[index].offset;
        if (address >= begin && address + bytes <= begin + globals[index].bytes) {
            return {Region::variable, index, (int64_t)(address - begin)};
        }
    }
    if (address >= (uintptr_t)etext && address + bytes <= (uintptr_t)__data_start) {
        return {Region::literal, 0, 0};
    }
    return {Region::nowhere, 0, (int64_t)address};
}

}  // namespace sim
