// Accesses outside the matrices, outside shared arrays, and array indices beyond the type.
#include <cstring>

#include "../machine/findings.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"

namespace sim {

namespace {

void fill(RawFinding *finding, const Access &access, int64_t offset) {
    if (!finding) return;
    finding->access = access.write ? (uint32_t)writes : 0u;
    finding->offset = offset;
    finding->bytes = (uint32_t)access.bytes;
}

// Around the shared block lies nothing else of the kernel's.
bool near_shared(uintptr_t address) {
    constexpr uintptr_t reach = 16u << 20;
    return address + reach >= shared_begin && address < shared_end + reach;
}

}  // namespace

bool observe_bounds(const Access &access, const Place &place) {
    switch (place.region) {
        case Region::guard:
            fill(report(global_access, access.pc, place.index), access, place.offset);
            return true;  // guards are ours: let it happen, as it would on a GPU
        case Region::shared_gap:
            fill(report(shared_access, access.pc, 0), access, place.offset);
            return true;
        case Region::literal:
            fill(report(wild_access, access.pc, 0), access, 0);
            return false;
        case Region::other_stack: {
            RawFinding *finding = report(foreign_local, access.pc, 0);
            fill(finding, access, 0);
            if (finding && (int)place.index < thread_count) {
                Position at = position_of((int)place.index);
                memcpy(finding->other, at.thread, sizeof at.thread);
            }
            return false;
        }
        case Region::nowhere:
            if (place.index > 0) {  // far outside, yet nearest to this operand
                fill(report(global_access, access.pc, place.index - 1), access, place.offset);
            } else if (near_shared(access.address)) {
                fill(report(shared_access, access.pc, 0), access,
                     (int64_t)(access.address - shared_begin));
            } else {
                fill(report(wild_access, access.pc, 0), access, place.offset);
            }
            return false;
        default: return true;
    }
}

void observe_array_index(const char *type, int64_t index, uint32_t line, uint32_t column,
                         uintptr_t pc) {
    RawFinding *finding = report(array_index, pc, column);
    if (!finding) return;
    finding->offset = index;
    finding->line = line;
    set_text(*finding, type);
}

}  // namespace sim
