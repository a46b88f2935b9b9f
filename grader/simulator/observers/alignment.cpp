// Vector accesses at addresses that are no multiple of their width: an error on every GPU.
#include "../machine/findings.hpp"
#include "observers.hpp"

namespace sim {

namespace {

void report_alignment(Kind kind, const Access &access, const Place &place) {
    RawFinding *finding = report(kind, access.pc, place.index);
    if (!finding) return;
    finding->access = access.write ? (uint32_t)writes : 0u;
    // Only a copy that fills its end with zeros takes less than its alignment is for.
    if (access.bytes < access.alignment) finding->access |= asynchronous;
    finding->offset = place.offset;
    finding->bytes = (uint32_t)access.alignment;
    bool matrix = place.region == Region::operand || place.region == Region::guard;
    set_text(*finding, matrix ? "operand" : place.region == Region::shared ? "shared" : "");
}

}  // namespace

bool observe_alignment(const Access &access, const Place &place) {
    if (access.address % access.alignment == 0) return true;
    report_alignment(misaligned_access, access, place);
    return false;
}

void observe_unaligned(const Access &access, const Place &place) {
    if (place.region == Region::stack) return;
    report_alignment(unaligned_access, access, place);
}

}  // namespace sim
