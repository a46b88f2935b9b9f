// Writes to operands that are only to be read.
#include "../machine/findings.hpp"
#include "observers.hpp"

namespace sim {

void observe_inputs(const Access &access, const Place &place) {
    if (!access.write || place.region != Region::operand) return;
    if (operands[place.index].may_be_written) return;
    RawFinding *finding = report(input_written, access.pc, place.index);
    if (!finding) return;
    finding->access = writes;
    finding->offset = place.offset;
    finding->bytes = (uint32_t)access.bytes;
}

}  // namespace sim
