// Where the observer of order keeps what it knows: reserved once, laid over each launch's memory.
#include "../machine/platform.hpp"
#include "observers.hpp"
#include "order_words.hpp"

namespace sim {

Table shared_table, operand_tables[max_operands], global_tables[max_globals];

namespace {

Table *tables[1 + max_operands + max_globals];  // those of this launch
int table_count;

// Address space for the tables of outputs: that of a contract's C, and of further ones. What is
// larger is not watched.
constexpr size_t most_output_words = (size_t)1 << 27, most_further_words = (size_t)1 << 24;

size_t room_of_shared() { return (shared_end - shared_begin) / 4 + 1; }
size_t room_of(uint32_t operand) {
    return operand == contract_output ? most_output_words : most_further_words;
}
size_t room_of(const Variable &variable) { return variable.bytes / 4 + 1; }

// Elements of matrices are words; arrays and variables may have smaller ones.
void reserve_table(Table &table, size_t room, bool bytes) {
    table.words = (Word *)reserve(room * sizeof(Word));
    table.more = (More *)reserve(room * sizeof(More));
    if (bytes) table.bytes = (Word *)reserve(4 * room * sizeof(Word));
}

void add_table(Table &table, uintptr_t begin, uintptr_t end, size_t room, bool bytes) {
    if ((end - begin + 3) / 4 > room) return;
    if (!table.words) reserve_table(table, room, bytes);
    table.begin = begin;
    table.end = end;
    tables[table_count++] = &table;
}

}  // namespace

Entry entry_of(uintptr_t address) {
    for (int index = 0; index < table_count; ++index) {
        Entry entry = entry_in(*tables[index], address);
        if (entry.word) return entry;
    }
    return {nullptr, nullptr, nullptr};
}

void reserve_order() {
    reserve_table(shared_table, room_of_shared(), true);
    for (uint32_t index = 0; index < operand_count; ++index) {
        if (operands[index].may_be_written) {
            reserve_table(operand_tables[index], room_of(index), false);
        }
    }
    for (uint32_t index = 0; index < global_count; ++index) {
        reserve_table(global_tables[index], room_of(globals[index]), true);
    }
}

void forget_tables() { table_count = 0; }

void place_tables() {
    forget_tables();
    for (Table &table : operand_tables) table.begin = table.end = 0;
    add_table(shared_table, shared_begin, shared_end, room_of_shared(), true);
    for (uint32_t index = 0; index < operand_count; ++index) {
        const Operand &operand = operands[index];
        if (!operand.may_be_written) continue;
        add_table(operand_tables[index], operand.begin, operand.end, room_of(index), false);
    }
    for (uint32_t index = 0; index < global_count; ++index) {
        const Variable &variable = globals[index];
        add_table(global_tables[index], variable.offset, variable.offset + variable.bytes,
                  room_of(variable), true);
    }
}

}  // namespace sim
