// Sparse launches: one block of a shape too large to send. A word of an input gets its value when
// it is read first, and what the block loads and stores is noted, piece by piece: that shows
// whether it computed the tile it should, of the words that it should.
#include "sparse.hpp"

#include <algorithm>
#include <cstring>

#include "observers.hpp"

namespace sim {

namespace {

Piece loaded_pieces[max_loaded_pieces], stored_pieces[max_stored_pieces];

// An integer of [-8, 8] without 0, so that a word that has its value is told from one that has
// none; now and then one of twelve bits, which less precise types do not hold.
// grader/problems/matmul_inputs.py computes the same.
float value_of(uint32_t operand, uint64_t word) {
    uint32_t mixed = ((uint32_t)word + operand * 0x9E3779B9u) * 0x85EBCA6Bu;
    mixed ^= mixed >> 15;
    mixed *= 0xC2B2AE35u;
    mixed ^= mixed >> 13;
    float magnitude = (float)(mixed % 8 + 1);
    if ((mixed >> 4 & 511) == 0) magnitude = 2 * magnitude + 2047;
    return mixed & 8 ? -magnitude : magnitude;
}

// How many words a piece touches.
size_t words_of(const Piece &piece) {
    return (piece.offset % 4 + piece.bytes + 3) / 4;
}

void note(Pieces &list, const Access &access, const Place &place) {
    uint64_t number = list.count++;
    if (number >= list.room) return;
    list.pieces[number] = {(uint64_t)place.offset, access.pc, place.index,
                           (uint32_t)access.bytes, {}};
}

}  // namespace

Pieces loaded{loaded_pieces, max_loaded_pieces, 0}, stored{stored_pieces, max_stored_pieces, 0};

void begin_sparse_launch() { loaded.count = stored.count = 0; }

void observe_sparse(const Access &access, const Place &place) {
    if (place.region != Region::operand) return;
    const Operand &operand = operands[place.index];
    if (access.write) {
        if (operand.starts_unset) note(stored, access, place);
        return;
    }
    if (operand.starts_unset) return;
    uint64_t first = (uint64_t)place.offset / 4, end = (place.offset + access.bytes + 3) / 4;
    for (uint64_t word = first; word < end; ++word) {
        float *value = (float *)operand.begin + word;
        if (*value == 0) *value = value_of(place.index, word);
    }
    note(loaded, access, place);
}

void end_sparse_launch() {
    for (uint64_t number = 0; number < stored.kept(); ++number) {
        Piece &piece = stored.pieces[number];
        uintptr_t from = operands[piece.operand].begin + piece.offset / 4 * 4;
        memcpy(piece.words, (void *)from, 4 * std::min<size_t>(words_of(piece), piece_words));
    }
}

}  // namespace sim
