// Data races, and reads of memory that nothing has written yet.
//
// Two accesses of one word by two threads race when at least one writes, not both are atomic, and
// nothing orders them: a barrier of the block between them, or, within a warp, a chain of
// __syncwarp and other warp-level operations. The verdict does not depend on which of the two the
// simulator happened to run first.
#include <cstring>

#include "../machine/fiber.hpp"
#include "../machine/findings.hpp"
#include "../machine/platform.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"

namespace sim {

namespace {

constexpr int warp_lanes = 32;

struct Stamp {  // who touched a word, and when
    uint32_t block;  // number of the block's run; 0: nobody
    uint32_t epoch;  // barriers of the block before it
    uint32_t clock;  // the thread's own count of warp-level operations
    uint32_t pc;     // kernels are linked below 4 GiB
    uint16_t thread;
    bool atomic;
};

struct Word {
    Stamp write, update, read, other_read;  // the last plain write, the last atomic one, two reads
    uint32_t pending_pc;            // an asynchronous copy to it is under way
    uint32_t pending_block;
    uint16_t pending_thread;
};

// What is known of the words of one piece of memory; reserved once, for all launches.
struct Table {
    uintptr_t begin, end;
    Word *words;
};

Table shared_table, operand_tables[max_operands], global_tables[max_globals];
Table *tables[1 + max_operands + max_globals];  // those of this launch
int table_count;
bool active;
uint32_t block_run, launch_begin;  // numbers of block runs; they never repeat in one worker
uint32_t epoch;
uint32_t known[max_fibers][warp_lanes];  // [thread][lane]: the lane's clock that the thread knows

// Storing the value that is already there harms nobody: such a write is judged after it happened.
struct Doubt {
    uintptr_t address;
    uint32_t before;
    RawFinding finding;
};
constexpr int max_doubts = 4;  // words of one access
Doubt doubts[max_doubts];
int doubt_count;

// Address space for the tables of outputs: that of a contract's C, and of further ones. What is
// larger is not watched.
constexpr size_t most_output_words = (size_t)1 << 27, most_further_words = (size_t)1 << 24;
constexpr uint32_t contract_output = 2;

void add_table(Table &table, uintptr_t begin, uintptr_t end, size_t room) {
    if ((end - begin + 3) / 4 > room) return;
    if (!table.words) table.words = (Word *)reserve(room * sizeof(Word));
    table.begin = begin;
    table.end = end;
    tables[table_count++] = &table;
}

Word *word_of(uintptr_t address, bool *shared) {
    for (int index = 0; index < table_count; ++index) {
        const Table &table = *tables[index];
        if (address < table.begin || address >= table.end) continue;
        *shared = index == 0;
        return table.words + (address - table.begin) / 4;
    }
    return nullptr;
}

uint32_t own_clock() { return known[current][current % warp_lanes]; }

bool in_same_block(const Stamp &stamp) { return stamp.block == block_run; }

bool in_same_warp(const Stamp &stamp) {
    return in_same_block(stamp) && stamp.thread / warp_lanes == current / warp_lanes;
}

bool ordered(const Stamp &stamp) {
    if (!in_same_block(stamp)) return false;
    if (stamp.thread == current || stamp.epoch != epoch) return true;
    return in_same_warp(stamp) && known[current][stamp.thread % warp_lanes] >= stamp.clock;
}

// Nobody's, or from before this launch, or (in shared memory) from another block.
bool void_stamp(const Stamp &stamp, bool shared) {
    return shared ? !in_same_block(stamp) : stamp.block < launch_begin;
}

bool races(const Stamp &stamp, const Access &access, bool shared) {
    return !void_stamp(stamp, shared) && !(stamp.atomic && access.atomic) && !ordered(stamp);
}

uint32_t place_number(const Place &place) {
    return place.region == Region::variable ? max_operands + place.index : place.index;
}

void fill_race(RawFinding &finding, const Access &access, const Place &place, const Stamp &other,
               bool other_wrote) {
    finding.access = 0;
    if (access.write) finding.access |= writes;
    if (other_wrote) finding.access |= other_writes;
    if (in_same_warp(other)) finding.access |= same_warp;
    finding.offset = place.offset;
    finding.bytes = (uint32_t)access.bytes;
    finding.pc_other = other.pc;
    Position at = position_of(other.thread);
    memcpy(finding.other, at.thread, sizeof at.thread);
    // A block's run number counts up from the launch's first; schedule.cpp knows which block it was.
    block_of_run(other.block - launch_begin, finding.other_block);
}

void report_race(const Access &access, const Place &place, const Stamp &other, bool other_wrote,
                 uint32_t extra = 0) {
    Kind kind = place.region == Region::shared ? shared_race : global_race;
    RawFinding *finding = report(kind, access.pc, place_number(place));
    if (!finding) return;
    fill_race(*finding, access, place, other, other_wrote);
    finding->access |= extra;
}

// Two writes: a fault only if they store different values, which is known after this one.
void doubt_write(const Access &access, uintptr_t address, const Place &place, const Stamp &other) {
    if (doubt_count == max_doubts) return;
    Kind kind = place.region == Region::shared ? shared_race : global_race;
    Doubt &doubt = doubts[doubt_count++];
    doubt.address = address;
    memcpy(&doubt.before, (void *)address, 4);
    memset(&doubt.finding, 0, sizeof doubt.finding);
    doubt.finding.kind = kind;
    doubt.finding.pc = access.pc;
    doubt.finding.where = place_number(place);
    doubt.finding.count = 1;
    Position at = position();
    memcpy(doubt.finding.thread, at.thread, sizeof at.thread);
    memcpy(doubt.finding.block, at.block, sizeof at.block);
    fill_race(doubt.finding, access, place, other, true);
}

void settle_doubts() {
    for (int index = 0; index < doubt_count; ++index) {
        const Doubt &doubt = doubts[index];
        if (memcmp(&doubt.before, (void *)doubt.address, 4) == 0) continue;
        RawFinding *finding =
            report((Kind)doubt.finding.kind, doubt.finding.pc, doubt.finding.where);
        if (finding) *finding = doubt.finding;
    }
    doubt_count = 0;
}

Stamp stamp_now(const Access &access) {
    return {block_run, epoch, own_clock(), (uint32_t)access.pc, (uint16_t)current,
            access.atomic != no_atomic};
}

bool by_current(const Stamp &stamp) { return in_same_block(stamp) && stamp.thread == current; }

// The second stamp is for a reader that orders differently: of another block or warp if possible.
void remember_read(Word &word, const Access &access, bool shared) {
    const Stamp &other = word.other_read;
    bool outdated = void_stamp(other, shared) || by_current(other) ||
                    (in_same_block(other) && (other.epoch != epoch || !in_same_warp(word.read)));
    if (!void_stamp(word.read, shared) && !by_current(word.read) && outdated) {
        word.other_read = word.read;
    }
    word.read = stamp_now(access);
}

void check_unset(const Word &word, const Access &access, const Place &place, bool shared) {
    if (!void_stamp(word.write, shared) || !void_stamp(word.update, shared)) return;
    if (place.region == Region::variable) return;  // it has an initial value
    if (place.region == Region::operand && !operands[place.index].starts_unset) return;
    RawFinding *finding =
        report(shared ? unset_shared : unset_output, access.pc, place_number(place));
    if (!finding) return;
    finding->offset = place.offset;
    finding->bytes = (uint32_t)access.bytes;
}

void observe_word(Word &word, const Access &access, uintptr_t address, const Place &place,
                  bool shared) {
    if (word.pending_pc && word.pending_block == block_run) {
        Stamp copy{block_run, epoch, 0, word.pending_pc, word.pending_thread, false};
        report_race(access, place, copy, true, asynchronous);
    }
    if (!access.write) {
        check_unset(word, access, place, shared);
        const Stamp &other = races(word.write, access, shared) ? word.write : word.update;
        if (races(other, access, shared)) report_race(access, place, other, true);
        remember_read(word, access, shared);
        return;
    }
    if (access.atomic == updates) check_unset(word, access, place, shared);
    if (races(word.read, access, shared)) {
        report_race(access, place, word.read, false);
    } else if (races(word.other_read, access, shared)) {
        report_race(access, place, word.other_read, false);
    } else if (races(word.write, access, shared)) {
        doubt_write(access, address, place, word.write);
    } else if (races(word.update, access, shared)) {
        doubt_write(access, address, place, word.update);
    }
    (access.atomic ? word.update : word.write) = stamp_now(access);
}

}  // namespace

void begin_order_launch(bool watch) {
    active = watch;
    doubt_count = 0;
    table_count = 0;
    if (!watch) return;
    launch_begin = block_run + 1;
    add_table(shared_table, shared_begin, shared_end, (shared_end - shared_begin) / 4 + 1);
    for (uint32_t index = 0; index < operand_count; ++index) {
        const Operand &operand = operands[index];
        if (!operand.may_be_written) continue;
        size_t room = index == contract_output ? most_output_words : most_further_words;
        add_table(operand_tables[index], operand.begin, operand.end, room);
    }
    for (uint32_t index = 0; index < global_count; ++index) {
        const Variable &variable = globals[index];
        add_table(global_tables[index], variable.offset, variable.offset + variable.bytes,
                  variable.bytes / 4 + 1);
    }
}

void begin_order_block() {
    ++block_run;
    epoch = 0;
    if (!active) return;
    memset(known, 0, sizeof known);
    for (int thread = 0; thread < thread_count; ++thread) known[thread][thread % warp_lanes] = 1;
}

void observe_order(const Access &access, const Place &place) {
    settle_doubts();
    if (place.region != Region::shared && place.region != Region::operand &&
        place.region != Region::variable) {
        return;
    }
    // Pieces of a word are not told apart: neighbouring bytes of two threads must not alarm.
    if (access.bytes < 4 || access.address % 4 != 0) return;
    for (size_t done = 0; done < access.bytes; done += 4) {
        bool shared = false;
        Word *word = word_of(access.address + done, &shared);
        if (!word) return;
        Place here = place;
        here.offset += (int64_t)done;
        observe_word(*word, access, access.address + done, here, shared);
    }
}

void observe_async_start(const Access &access) {
    if (!active) return;
    for (size_t done = 0; done < access.bytes; done += 4) {
        bool shared = false;
        Word *word = word_of(access.address + done, &shared);
        if (!word) return;
        word->pending_pc = (uint32_t)access.pc;
        word->pending_block = block_run;
        word->pending_thread = (uint16_t)current;
    }
}

void observe_async_end(const Access &access) {
    if (!active) return;
    for (size_t done = 0; done < access.bytes; done += 4) {
        bool shared = false;
        Word *word = word_of(access.address + done, &shared);
        if (!word) return;
        word->pending_pc = 0;
        word->write = stamp_now(access);
    }
}

void observe_switch() { settle_doubts(); }

void observe_block_barrier() { ++epoch; }

void observe_warp_sync(int warp, uint32_t lanes) {
    if (!active) return;
    uint32_t joined[warp_lanes] = {};
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(lanes >> lane & 1u)) continue;
        for (int other = 0; other < warp_lanes; ++other) {
            uint32_t clock = known[warp + lane][other];
            if (clock > joined[other]) joined[other] = clock;
        }
    }
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(lanes >> lane & 1u)) continue;
        memcpy(known[warp + lane], joined, sizeof joined);
        ++known[warp + lane][lane];
    }
}

}  // namespace sim
