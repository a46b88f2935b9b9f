// Vector accesses at addresses that are no multiple of their width: an error on every GPU.
#include "../machine/findings.hpp"
#include "observers.hpp"

namespace sim {

bool observe_alignment(const Access &access, const Place &place) {
    if (access.address % access.alignment == 0) return true;
    RawFinding *finding = report(misaligned_access, access.pc, place.index);
    if (finding) {
        finding->write = access.write;
        finding->offset = place.offset;
        finding->bytes = (uint32_t)access.bytes;
        finding->line = 0;
        set_text(*finding, place.region == Region::shared    ? "shared"
                           : place.region == Region::operand ? "operand"
                           : place.region == Region::guard   ? "operand"
                                                             : "");
    }
    return false;
}

}  // namespace sim
