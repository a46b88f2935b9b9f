// Barriers that some threads never reach, or that threads reach at different places.
#include <cstring>

#include "../machine/findings.hpp"
#include "../machine/schedule.hpp"
#include "observers.hpp"

namespace sim {

void observe_barrier(int thread_count) {
    int first = -1, other = -1, missing = 0;
    for (int index = 0; index < thread_count; ++index) {
        bool waits = threads[index].state == State::at_barrier;
        if (waits && first < 0) first = index;
        if (!waits) ++missing;
    }
    for (int index = 0; index < thread_count && other < 0; ++index) {
        bool waits = threads[index].state == State::at_barrier;
        if (!waits || threads[index].pc != threads[first].pc) other = index;
    }
    if (other < 0) return;
    current = first;
    RawFinding *finding = report(divergent_barrier, threads[first].pc, missing > 0);
    if (!finding) return;
    finding->offset = missing;
    finding->pc_other = missing > 0 ? 0 : threads[other].pc;
    Position at = position_of(other);
    memcpy(finding->other, at.thread, sizeof at.thread);
}

}  // namespace sim
