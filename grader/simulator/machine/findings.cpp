#include "findings.hpp"

#include <cstring>

#include "schedule.hpp"

namespace sim {

RawFinding findings[max_findings];
uint32_t finding_count;

RawFinding *report(Kind kind, uintptr_t pc, uint32_t where) {
    for (uint32_t index = 0; index < finding_count; ++index) {
        RawFinding &seen = findings[index];
        if (seen.kind == kind && seen.pc == pc && seen.where == where) {
            if (seen.count < UINT32_MAX) ++seen.count;
            return nullptr;
        }
    }
    if (finding_count == max_findings) return nullptr;
    RawFinding &fresh = findings[finding_count++];
    memset(&fresh, 0, sizeof fresh);
    fresh.kind = kind;
    fresh.pc = pc;
    fresh.where = where;
    fresh.count = 1;
    Position at = position();
    memcpy(fresh.thread, at.thread, sizeof at.thread);
    memcpy(fresh.block, at.block, sizeof at.block);
    return &fresh;
}

void set_text(RawFinding &finding, const char *text) {
    strncpy(finding.text, text, sizeof finding.text - 1);
}

}  // namespace sim
