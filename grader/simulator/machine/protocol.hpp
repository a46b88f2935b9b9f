// The frames between the parent and this worker: fixed-size structs, little-endian, no text.
// grader/simulator/protocol.py is the other half; version changes on both sides together.
#pragma once
#include <cstdint>

namespace sim {

constexpr uint32_t protocol_version = 7;
constexpr int max_operands = 8;
constexpr int max_scalars = 8;
// More than any kernel has that is written by hand; the parent runs none that has more.
constexpr int max_variables = 1024;
constexpr int max_globals = 1024;
// Of one block: a tile of 256 x 256, each element stored twice.
constexpr int max_stored_pieces = 1 << 17;
constexpr int max_loaded_pieces = 1 << 14;  // the first ones: examples are enough
constexpr int piece_words = 4;
constexpr int max_line_rows = 1 << 16;
constexpr int max_counter_rows = 4096;

struct Variable {
    uint64_t offset, bytes;
};

struct Hello {  // the parent's first words
    uint32_t version, variable_count, global_count, reserved;
    uint64_t anchor_offset, shared_bytes;  // of the whole thread-local block
    uint64_t dynamic_offset;               // of the array that stands for `extern __shared__`
    Variable variables[max_variables];     // shared arrays: offsets in the thread-local block
    Variable globals[max_globals];         // __device__ and __constant__ variables: addresses
};

// Before its first launch a worker answers with its version: from then on the kernel may be to blame
// for how it ends.

struct Request {
    uint32_t version, operand_count, scalar_count, poison;
    int32_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
    uint32_t dynamic_shared;
    uint32_t sparse;         // 1: no images travel, words get their value when they are read
    uint32_t watch;            // Watch flags: the observers that follow every access
    uint32_t line_row_count;   // that come after this struct, before the images
    int64_t only_block;      // -1: all blocks, else the linear index of the only one to run
    uint64_t order;          // seed of the threads' order; 0: as numbered
    double cpu_limit_s;
    uint32_t roles[max_operands];   // Role flags of each operand
    uint64_t bytes[max_operands];   // of each matrix
    uint64_t guard[max_operands];   // words before it, and as many after it
    int64_t scalars[max_scalars];
    uint64_t ticket;  // drawn for this request: only what repeats it is an answer
};

enum Watch : uint32_t { watch_order = 1, watch_counts = 2, watch_sparse = 4 };

// What a kernel may do with an operand; without `writable` it is an input, `unset` ones are outputs
// that hold nothing when the launch begins.
enum Role : uint32_t { writable = 1, unset = 2 };

struct LineRow {  // code from this address on belongs to this line (0: not the student's)
    uint64_t address, line;
};

// The `words` of atomic accesses are operations by lanes; what these cost beyond a load or store at
// the same places is not counted.
enum RowAccess : uint32_t { load = 0, store = 1, atomic = 2 };

struct CounterRow {  // one kind of access on one source line
    uint32_t line, space;   // space: 0 shared, 1 operand, 2 device variable
    uint32_t place, bytes;  // number of the array, operand or variable; width of one lane's access
    uint32_t access, approximate;  // access: a RowAccess
    uint64_t requests, words;
    uint64_t sectors, ideal_sectors;
    uint64_t wavefronts, ideal_wavefronts;
    uint64_t merged_requests, merged_wavefronts, merged_ideal_wavefronts;
    // The request that cost most, the first one of these: sectors or wavefronts, what would do, how
    // many lanes were served together, which warp of which block, and each lane's offset in bytes.
    uint32_t worst_cost, worst_ideal, worst_group, worst_warp;
    int32_t worst_block_x, worst_block_y, worst_block_z;
    uint32_t worst_active;
    uint32_t worst_offset[32];
};

struct Piece {  // one access of a lane: bytes from the operand's start, code, operand, bytes
    uint64_t offset, pc;
    uint32_t operand, bytes;
    uint32_t words[piece_words];  // of a store: those it lies in, at the end of the launch
};

enum Status : uint32_t { finished, aborted, timed_out, crashed };

// Bits of RawFinding::access: what this party and the other one did.
enum Accesses : uint32_t {
    writes = 1, other_writes = 2, asynchronous = 4, same_warp = 8, overwriting = 16,
    met = 32  // in a vote or a shuffle, which orders no memory
};

enum Kind : uint32_t {
    global_access = 1,
    shared_access,
    array_index,
    wild_access,
    misaligned_access,
    input_written,
    assertion,
    trap,
    stack_overflow,
    fatal_signal,
    deadlock,
    divergent_barrier,
    async_copy,
    unaligned_access,  // 8 or 16 bytes that the compiler knows to be unaligned
    shared_race,
    global_race,
    unset_shared,  // read before this block wrote it
    unset_output,  // read before this launch wrote it
    index_overflow,
    repeated_store,  // two blocks stored the same value to one element of the output
    system_call,     // that was forbidden
    foreign_local,   // local memory of another thread
    print_format,    // what a GPU's printf does not know
    unset_lane,      // a shuffle from a lane that brings no value
};

struct RawFinding {
    uint32_t kind;
    uint32_t access;    // Accesses of both parties
    uint64_t pc;        // 0 when `line` says where
    uint64_t pc_other;  // the other party's
    int64_t offset;     // bytes from the operand's or the variable's start; the index of an array
    uint32_t where;     // operand or variable number; extra number (column of an index)
    uint32_t bytes;     // size of the access
    uint32_t line, count;
    int32_t thread[3], block[3];  // x, y, z
    int32_t other[3], other_block[3];
    char text[64];      // type of an array, expression of an assertion, name of a signal
};

struct Response {
    uint32_t version, status, finding_count, output_bytes, output_cut, operand_count;
    uint32_t counter_row_count;
    uint32_t confined;  // whether system calls are forbidden here
    uint64_t barriers;
    uint64_t uncounted;  // accesses for which the counters had no room
    // Pieces of a sparse launch; those there was room for follow the counters.
    uint64_t stored, loaded;
    uint64_t image_words[max_operands];
    uint64_t pc;       // where the processor was when the kernel was stopped, perhaps in our code
    uint64_t last_pc;  // the kernel's last access
    int32_t thread[3], block[3];
    uint64_t ticket;
};

}  // namespace sim
