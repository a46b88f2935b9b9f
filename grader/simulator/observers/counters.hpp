// What the observer of counters needs from the parent and hands to it.
#pragma once
#include <cstdint>

#include "../machine/protocol.hpp"

namespace sim {

extern LineRow line_rows[max_line_rows];
extern uint32_t line_row_count;
extern CounterRow counter_rows[max_counter_rows];
extern uint32_t counter_row_count;
extern uint64_t barrier_count;  // barriers passed, summed over blocks
extern uint64_t uncounted;      // accesses for which there was no room

}  // namespace sim
