// Data races, and reads of memory that nothing has written yet.
//
// Two accesses of one word by two threads race when at least one writes, not both are atomic, and
// nothing orders them: a barrier of the block between them, or, within a warp, a chain of
// __syncwarp. Votes and shuffles order no memory, though lanes meet there. The verdict does not
// depend on which of the two the simulator happened to run first.
#include <algorithm>
#include <cstring>

#include "../machine/async_copy.hpp"
#include "../machine/fiber.hpp"
#include "../machine/findings.hpp"
#include "../machine/lanes.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"
#include "order_words.hpp"

namespace sim {

namespace {

// For what every read goes through: inline, so that with `shared` known half of it falls away.
#define SIM_HOT __attribute__((always_inline)) inline

bool active;
// Numbers of block runs, and of what lies between two barriers; they never repeat in one worker.
uint32_t block_run, launch_begin, epoch;
uint32_t known[max_fibers][warp_lanes];  // [thread][lane]: the lane's clock that the thread knows
uint32_t last_met[max_fibers][warp_lanes];  // its clock when both were in a vote or a shuffle
uint32_t last_read[max_fibers];  // the epoch in which a thread last read shared memory

// Storing the value that is already there harms nobody: such a write is judged after it happened.
struct Doubt {
    uintptr_t address;
    uint32_t bytes;  // 1 or 4
    uint32_t before;
    RawFinding finding;
};
constexpr int max_doubts = 1 << 16;  // words of one access: a struct may fill shared memory
Doubt doubts[max_doubts];
int doubt_count;

SIM_HOT uint32_t own_clock() { return known[current][(unsigned)current % warp_lanes]; }

SIM_HOT bool in_same_block(const Stamp &stamp) { return stamp.block == block_run; }

SIM_HOT bool in_same_warp(const Stamp &stamp) {
    return in_same_block(stamp) && (stamp.thread ^ (unsigned)current) < warp_lanes;
}

SIM_HOT bool ordered(const Stamp &stamp) {
    if (!in_same_block(stamp)) return false;
    if (stamp.thread == current || stamp.epoch != epoch) return true;
    return in_same_warp(stamp) && known[current][stamp.thread % warp_lanes] >= stamp.clock;
}

// Nobody's, or from before this launch, or (in shared memory) from another block.
SIM_HOT bool void_stamp(const Stamp &stamp, bool shared) {
    return shared ? !in_same_block(stamp) : stamp.block < launch_begin;
}

SIM_HOT bool races(const Stamp &stamp, const Access &access, bool shared) {
    return !void_stamp(stamp, shared) && !(stamp.atomic && access.atomic) && !ordered(stamp);
}

uint32_t place_number(const Place &place) {
    return place.region == Region::variable ? max_operands + place.index : place.index;
}

void fill_race(RawFinding &finding, const Access &access, const Place &place, const Stamp &other,
               bool other_wrote, uint32_t extra = 0) {
    finding.access = extra;
    if (access.write) finding.access |= writes;
    if (other_wrote) finding.access |= other_writes;
    if (other_wrote && other.overwrites) finding.access |= overwriting;
    bool lately = last_met[current][other.thread % warp_lanes] >= other.clock;
    if (in_same_warp(other)) finding.access |= lately ? same_warp | met : same_warp;
    finding.offset = place.offset;
    finding.bytes = (uint32_t)access.bytes;
    finding.pc_other = other.pc;
    Position at = position_of(other.thread);
    memcpy(finding.other, at.thread, sizeof at.thread);
    // A block's run number counts up from the launch's first; schedule.cpp knows which block it was.
    block_of_run(other.block - launch_begin, finding.other_block);
}

__attribute__((noinline)) RawFinding *report_race(const Access &access, const Place &place, const Stamp &other, bool other_wrote,
                 uint32_t extra = 0) {
    Kind kind = place.region == Region::shared ? shared_race : global_race;
    RawFinding *finding = report(kind, access.pc, place_number(place));
    if (finding) fill_race(*finding, access, place, other, other_wrote, extra);
    return finding;
}

// Two writes: a fault only if they store different values, which is known after this one.
void doubt_write(const Access &access, uintptr_t address, uint32_t bytes, const Place &place,
                 const Stamp &other) {
    if (doubt_count == max_doubts) return;
    Doubt &doubt = doubts[doubt_count++] = {address, bytes, 0, {}};
    memcpy(&doubt.before, (void *)address, bytes);
    doubt.finding.kind = place.region == Region::shared ? shared_race : global_race;
    doubt.finding.pc = access.pc;
    doubt.finding.where = place_number(place);
    doubt.finding.count = 1;
    Position at = position();
    memcpy(doubt.finding.thread, at.thread, sizeof at.thread);
    memcpy(doubt.finding.block, at.block, sizeof at.block);
    fill_race(doubt.finding, access, place, other, true);
}

// Whether another block had stored to this element of the contract's C: harmless in itself, but the
// parent knows where each block should have elements of its own.
bool shares_output(const RawFinding &finding) {
    return finding.kind == global_race && finding.where == contract_output &&
           memcmp(finding.block, finding.other_block, sizeof finding.block) != 0;
}

void settle_doubts() {
    for (int index = 0; index < doubt_count; ++index) {
        Doubt &doubt = doubts[index];
        if (memcmp(&doubt.before, (void *)doubt.address, doubt.bytes) == 0) {
            if (!shares_output(doubt.finding)) continue;
            doubt.finding.kind = repeated_store;
        }
        RawFinding *finding =
            report((Kind)doubt.finding.kind, doubt.finding.pc, doubt.finding.where);
        if (finding) *finding = doubt.finding;
    }
    doubt_count = 0;
}

SIM_HOT Stamp stamp_now(const Access &access) {
    return {block_run, epoch, own_clock(), (uint32_t)access.pc, (uint16_t)current,
            access.atomic != no_atomic, false};
}

SIM_HOT bool by_current(const Stamp &stamp) { return in_same_block(stamp) && stamp.thread == current; }

// The second stamp is for a reader that orders differently: of another block or warp if possible.
// Whether the second of two remembered reads says less than the first one now would.
SIM_HOT bool outdated(const Stamp &other, const Stamp &read, bool shared) {
    return void_stamp(other, shared) || by_current(other) ||
           (in_same_block(other) && (other.epoch != epoch || !in_same_warp(read)));
}

SIM_HOT void remember_read(Word &word, const Access &access, bool shared) {
    bool of_another = !void_stamp(word.read, shared) && !by_current(word.read);
    if (of_another && outdated(word.other_read, word.read, shared)) word.other_read = word.read;
    word.read = stamp_now(access);
}

// For a word that nothing has written.
__attribute__((noinline)) void check_unset(const Access &access, const Place &place, bool shared) {
    if (place.region == Region::variable) return;  // it has an initial value
    if (place.region == Region::operand && !operands[place.index].starts_unset) return;
    RawFinding *finding =
        report(shared ? unset_shared : unset_output, access.pc, place_number(place));
    if (!finding) return;
    finding->offset = place.offset;
    finding->bytes = (uint32_t)access.bytes;
}

// `update` is null where no atomic operation ever wrote the word.
SIM_HOT bool is_unset(const Word &word, const Stamp *update, bool shared) {
    return void_stamp(word.write, shared) && (!update || void_stamp(*update, shared));
}

SIM_HOT void observe_read(Word &word, const Stamp *update, const Access &access,
                          const Place &place, bool shared) {
    if (is_unset(word, update, shared)) {
        check_unset(access, place, shared);
    } else if (races(word.write, access, shared)) {
        report_race(access, place, word.write, true);
    } else if (update && races(*update, access, shared)) {
        report_race(access, place, *update, true);
    }
    remember_read(word, access, shared);
}

void observe_write(const Entry &entry, const Stamp *update, const Access &access,
                   uintptr_t address, uint32_t bytes, const Place &place, bool shared) {
    Word &word = *entry.word;
    bool unset = is_unset(word, update, shared);
    if (access.atomic == updates && unset) check_unset(access, place, shared);
    // What its thread has read since the last barrier comes before it in the program, as far as
    // there was something to read.
    uint32_t order = shared && !unset && last_read[current] == epoch ? overwriting : 0u;
    if (races(word.read, access, shared)) {
        report_race(access, place, word.read, false, order);
    } else if (races(word.other_read, access, shared)) {
        report_race(access, place, word.other_read, false, order);
    } else if (races(word.write, access, shared)) {
        doubt_write(access, address, bytes, place, word.write);
    } else if (update && races(*update, access, shared)) {
        doubt_write(access, address, bytes, place, *update);
    }
    if (access.atomic) word.marks |= has_more;
    Stamp &stamp = access.atomic ? entry.more->update : word.write;
    stamp = stamp_now(access);
    stamp.overwrites = order != 0;
}

void observe_pending(const More &more, const Access &access, const Place &place) {
    if (!more.pending_pc || more.pending_block != block_run) return;
    Stamp copy{block_run, epoch, 0, more.pending_pc, more.pending_thread, false, false};
    // Of its own copies, which it does not wait for either, each thread reads the words first.
    bool early = more.pending_epoch == epoch && more.pending_thread != current;
    RawFinding *finding =
        report_race(access, place, copy, true, asynchronous | (early ? overwriting : 0u));
    bool committed = (uint16_t)committed_batches(more.pending_thread) != more.pending_batch;
    if (finding && !early && !committed) set_text(*finding, "uncommitted");
}

// The bytes that an access touches of a word that is watched by bytes.
void observe_bytes(const Entry &entry, const Stamp *update, const Access &access, uintptr_t address,
                   size_t bytes, const Place &place, bool shared) {
    for (size_t done = 0; done < bytes; ++done) {
        Word *byte = entry.bytes + (address + done) % 4;
        Place here = place;
        here.offset += (int64_t)done;
        if (access.write) {
            Entry alone{byte, entry.more, nullptr};
            observe_write(alone, update, access, address + done, 1, here, shared);
        } else {
            observe_read(*byte, update, access, here, shared);
        }
    }
    if (access.atomic) entry.word->marks |= has_more;
}

__attribute__((noinline)) void observe_word(const Entry &entry, const Access &access,
                                            uintptr_t address, const Place &place, bool shared) {
    const Stamp *update = entry.word->marks & has_more ? &entry.more->update : nullptr;
    if (update) observe_pending(*entry.more, access, place);
    if (entry.word->marks & in_bytes) {
        observe_bytes(entry, update, access, address, 4, place, shared);
    } else if (access.write) {
        observe_write(entry, update, access, address, 4, place, shared);
    } else {
        observe_read(*entry.word, update, access, place, shared);
    }
}

// An access to a part of a word: from then on each of its bytes has a memory of its own, since
// neighbouring bytes of two threads must not alarm.
__attribute__((noinline)) void observe_part(const Table &table, const Access &access,
                                            const Place &place, bool shared) {
    Entry entry = entry_in(table, access.address);
    if (!entry.bytes) return;
    const Stamp *update = entry.word->marks & has_more ? &entry.more->update : nullptr;
    if (update) observe_pending(*entry.more, access, place);
    if (!(entry.word->marks & in_bytes)) {
        for (int byte = 0; byte < 4; ++byte) entry.bytes[byte] = *entry.word;
        entry.word->marks |= in_bytes;
    }
    observe_bytes(entry, update, access, access.address, access.bytes, place, shared);
}

SIM_HOT void observe_words(const Table &table, const Access &access, const Place &place,
                           bool shared) {
    for (size_t done = 0; done < access.bytes; done += 4) {
        Entry entry = entry_in(table, access.address + done);
        if (!entry.word) return;
        Place here = place;
        here.offset += (int64_t)done;
        if (access.write || entry.word->marks) {
            observe_word(entry, access, access.address + done, here, shared);
        } else {
            observe_read(*entry.word, nullptr, access, here, shared);
        }
    }
}

}  // namespace

void begin_order_launch(bool watch) {
    active = watch;
    doubt_count = 0;
    if (!watch) return forget_tables();
    launch_begin = block_run + 1;
    place_tables();
}

void begin_order_block() {
    ++block_run;
    ++epoch;
    if (!active) return;
    int lanes = (thread_count + warp_lanes - 1) / warp_lanes * warp_lanes;  // of all warps
    memset(known, 0, lanes * sizeof known[0]);
    memset(last_met, 0, lanes * sizeof last_met[0]);
    for (int thread = 0; thread < thread_count; ++thread) known[thread][thread % warp_lanes] = 1;
}

void observe_order(const Access &access, const Place &place) {
    if (doubt_count && !access.continues) settle_doubts();
    const Table *table = table_of(place);
    if (!table) return;
    bool shared = place.region == Region::shared;
    if (shared && !access.write) last_read[current] = epoch;
    if (access.bytes < 4) return observe_part(*table, access, place, shared);
    if (shared) return observe_words(*table, access, place, true);
    observe_words(*table, access, place, false);
}

void observe_async_start(const Access &access) {
    if (!active) return;
    for (size_t done = 0; done < access.bytes; done += 4) {
        Entry entry = entry_of(access.address + done);
        if (!entry.word) return;
        entry.word->marks |= has_more;
        *entry.more = {entry.more->update, (uint32_t)access.pc, block_run, epoch,
                       (uint16_t)current, (uint16_t)committed_batches(current)};
    }
}

void observe_async_end(const Access &access) {
    if (!active) return;
    for (size_t done = 0; done < access.bytes; done += 4) {
        Entry entry = entry_of(access.address + done);
        if (!entry.word) return;
        entry.more->pending_pc = 0;
        entry.word->write = stamp_now(access);
        if (!(entry.word->marks & in_bytes)) continue;
        for (int byte = 0; byte < 4; ++byte) entry.bytes[byte].write = entry.word->write;
    }
}

void observe_switch() { settle_doubts(); }

void observe_block_barrier() { ++epoch; }

void observe_warp_sync(int warp, uint32_t lanes, bool ordered) {
    if (!active) return;
    uint32_t joined[warp_lanes] = {};
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(lanes >> lane & 1u)) continue;
        if (!ordered) joined[lane] = known[warp + lane][lane];
        for (int other = 0; ordered && other < warp_lanes; ++other) {
            joined[other] = std::max(joined[other], known[warp + lane][other]);
        }
    }
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(lanes >> lane & 1u)) continue;
        memcpy(ordered ? known[warp + lane] : last_met[warp + lane], joined, sizeof joined);
        ++known[warp + lane][lane];
    }
}

}  // namespace sim
