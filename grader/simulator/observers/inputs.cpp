// Writes to the inputs: every operand but the last is read-only.
#include "../machine/findings.hpp"
#include "observers.hpp"

namespace sim {

void observe_inputs(const Access &access, const Place &place) {
    if (!access.write || place.region != Region::operand || place.index + 1 == operand_count) return;
    RawFinding *finding = report(input_written, access.pc, place.index);
    if (!finding) return;
    finding->access = writes;
    finding->offset = place.offset;
    finding->bytes = (uint32_t)access.bytes;
}

}  // namespace sim
