// What the observer of order remembers of each word of memory: who touched it last, and when.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../machine/memory.hpp"

namespace sim {

struct Stamp {  // who touched a word, and when
    uint32_t block;  // number of the block's run; 0: nobody
    uint32_t epoch;  // two of one block have the same one when no barrier lies between them
    uint32_t clock;  // the thread's own count of warp-level operations
    uint32_t pc;     // kernels are linked below 4 GiB
    uint16_t thread;
    bool atomic : 1;
    bool overwrites : 1;  // a write of what the program's order lets others read before it
};

struct Word {                       // one line of the processor's cache
    Stamp write, read, other_read;  // the last plain write, two reads
    uint32_t marks;                 // WordMarks, never taken back
};
static_assert(sizeof(Word) == 64);

enum WordMarks : uint32_t {
    has_more = 1,  // its entry in the table of these was used
    in_bytes = 2,  // bytes of it were touched alone: what is known stands in the table of bytes
};

struct More {  // what few words have
    Stamp update;         // the last atomic write
    uint32_t pending_pc;  // an asynchronous copy to it is under way
    uint32_t pending_block, pending_epoch;
    uint16_t pending_thread, pending_batch;  // the low bits of the batch's number
};

// What is known of the words of one piece of memory; reserved once, for all launches.
struct Table {
    uintptr_t begin, end;  // both 0 in a launch that does not watch it
    Word *words;
    More *more;
    Word *bytes;  // four for each word; null where only words are watched
};

struct Entry {
    Word *word;
    More *more;
    Word *bytes;  // of the word: four, or null
};

// All null where the address is not watched.
inline Entry entry_in(const Table &table, uintptr_t address) {
    if (address - table.begin >= table.end - table.begin) return {nullptr, nullptr, nullptr};
    size_t number = (address - table.begin) / 4;
    Word *bytes = table.bytes ? table.bytes + 4 * number : nullptr;
    return {table.words + number, table.more + number, bytes};
}

constexpr uint32_t contract_output = 2;

extern Table shared_table, operand_tables[max_operands], global_tables[max_globals];
// Lays the tables over what a launch watches, or over nothing.
void place_tables();
void forget_tables();
// The entry of any address.
Entry entry_of(uintptr_t address);

inline const Table *table_of(const Place &place) {
    switch (place.region) {
        case Region::shared: return &shared_table;
        case Region::operand: return &operand_tables[place.index];
        case Region::variable: return &global_tables[place.index];
        default: return nullptr;
    }
}

}  // namespace sim
