// What depends on the operating system.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

size_t page_bytes();
// Zeroed memory that costs nothing until it is touched, between two pages that fault; ends the
// process when refused.
void *reserve(size_t bytes);
// Makes an access to this range a fault.
void protect(void *begin, size_t bytes);
// Gives the pages of the range back; they read as zero afterwards.
void discard(void *begin, size_t bytes);

struct Fault {
    int signal;
    const char *name;   // "SIGSEGV"
    uintptr_t address;  // accessed, for a memory fault
    uintptr_t pc;
    bool timeout;
    long system_call;  // that was forbidden, or -1
};
// Calls `handler` on a stack of its own for every fatal signal and when the limit runs out;
// it must not return.
void on_fault(void (*handler)(const Fault &));
// CPU time, not wall time: a busy machine must not cost a student a verdict. 0 switches it off.
void limit_cpu_seconds(double seconds);

// Whole buffers over pipes; false when the other end is gone.
bool read_fully(int descriptor, void *to, size_t bytes);
bool write_fully(int descriptor, const void *from, size_t bytes);
// Gives up all that a kernel does not need, for good; false where system calls cannot be forbidden.
// Nothing can be reserved afterwards.
bool enter_sandbox();
// The name of a common system call, or null.
const char *system_call_name(long number);
// How the process ends; grader/simulator/ending.py knows the numbers.
enum Ending : int {
    said_all = 0,
    broken_pipe = 2,
    no_memory = 3,
    own_fault = 4,       // outside of a launch
    misunderstood = 5,   // what the parent asked
    signalled = 6,       // by another process
};
[[noreturn]] void quit(Ending ending);

}  // namespace sim
