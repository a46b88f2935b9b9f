// Lanes of a warp that wait for one another, and what they hand over when they meet.
#pragma once
#include <cstdint>

namespace sim {

constexpr int warp_lanes = 32;

// `poison`: what a lane gets that asks one which brings nothing.
void begin_lanes_launch(uint32_t poison);
// Lets `thread` go on, and the lanes that wait with it, if all of them are there: those lanes of its
// warp, or 0 while it waits.
uint32_t release_with(int thread);
// Both for all threads of the block; false where none goes on.
bool release_lanes();
bool release_active();
// When nothing goes on: who waits for whom.
void report_deadlock();

}  // namespace sim
