// What the observer of stores hands to the parent.
#pragma once
#include <cstdint>

#include "../machine/protocol.hpp"

namespace sim {

extern StoredPiece stored_pieces[max_stored_pieces];
extern uint64_t stored_piece_count;  // may be more than there is room for

}  // namespace sim
