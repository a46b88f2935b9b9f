// What the observer of order remembers of each word of memory: who touched it last, and when.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

struct Stamp {  // who touched a word, and when
    uint32_t block;  // number of the block's run; 0: nobody
    uint32_t epoch;  // barriers of the block before it
    uint32_t clock;  // the thread's own count of warp-level operations
    uint32_t pc;     // kernels are linked below 4 GiB
    uint16_t thread;
    bool atomic;
};

struct Word {                       // one line of the processor's cache
    Stamp write, read, other_read;  // the last plain write, two reads
    uint32_t has_more;              // its entry in the table of these was ever used
};
static_assert(sizeof(Word) == 64);

struct More {  // what few words have
    Stamp update;         // the last atomic write
    uint32_t pending_pc;  // an asynchronous copy to it is under way
    uint32_t pending_block;
    uint16_t pending_thread;
};

// What is known of the words of one piece of memory; reserved once, for all launches.
struct Table {
    uintptr_t begin, end;  // both 0 in a launch that does not watch it
    Word *words;
    More *more;
};

struct Entry {
    Word *word;
    More *more;
};

// Both null where the address is not watched.
inline Entry entry_in(const Table &table, uintptr_t address) {
    if (address - table.begin >= table.end - table.begin) return {nullptr, nullptr};
    size_t number = (address - table.begin) / 4;
    return {table.words + number, table.more + number};
}

}  // namespace sim
