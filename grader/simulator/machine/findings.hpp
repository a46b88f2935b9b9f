// What was seen during a launch, collected for the parent.
#pragma once
#include "protocol.hpp"

namespace sim {

constexpr uint32_t max_findings = 64;  // of different places; the rest is counted there
extern RawFinding findings[max_findings];
extern uint32_t finding_count;

// A finding of this kind at this place: the first one's details stay, later ones are counted.
// Thread and block are filled in. Returns null for a repeated one.
RawFinding *report(Kind kind, uintptr_t pc, uint32_t where);
void set_text(RawFinding &finding, const char *text);

}  // namespace sim
