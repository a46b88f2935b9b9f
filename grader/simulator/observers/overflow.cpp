// Signed arithmetic whose result does not fit its type: an index of a large matrix kept in an int.
#include <cstdio>

#include "../machine/findings.hpp"
#include "observers.hpp"

namespace sim {

void observe_overflow(int64_t left, char operation, int64_t right, uint32_t line, uintptr_t pc) {
    RawFinding *finding = report(index_overflow, pc, 0);
    if (!finding) return;
    finding->line = line;
    snprintf(finding->text, sizeof finding->text, "%lld %c %lld", (long long)left, operation,
             (long long)right);
}

}  // namespace sim
