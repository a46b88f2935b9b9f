// What the observer of sparse launches hands to the parent.
#pragma once
#include <cstdint>

#include "../machine/protocol.hpp"

namespace sim {

struct Pieces {
    Piece *const pieces;
    const uint64_t room;
    uint64_t count;  // may be more than there is room for

    uint64_t kept() const { return count < room ? count : room; }
};

extern Pieces loaded, stored;

// Once the block has ended: what it stored, as it stands there now.
void end_sparse_launch();

}  // namespace sim
