// What one block stores to the outputs, piece by piece: at shapes too large to send C back, this
// shows whether the block computed the tile it should.
#include "stores.hpp"

#include "../machine/memory.hpp"
#include "observers.hpp"

namespace sim {

StoredPiece stored_pieces[max_stored_pieces];
uint64_t stored_piece_count;

void begin_stores_launch() { stored_piece_count = 0; }

void observe_stores(const Access &access, const Place &place) {
    if (!access.write || place.region != Region::operand) return;
    if (!operands[place.index].starts_unset) return;
    // What is past the table is still counted, so that the parent knows that it is not all.
    uint64_t number = stored_piece_count++;
    if (number >= max_stored_pieces) return;
    stored_pieces[number] = {(uint64_t)place.offset, access.bytes, access.pc};
}

}  // namespace sim
