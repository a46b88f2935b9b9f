#include "output.hpp"

#include <cstdarg>
#include <cstdio>

#include "instrumentation.hpp"

namespace sim {
char output[output_limit_bytes];
size_t output_bytes;
bool output_cut;
void forget_output() {
    output_bytes = 0;
    output_cut = false;
}
}  // namespace sim

// The kernel's printf: linked before the C library's.
extern "C" int printf(const char *format, ...) {
    sim::last_pc = (uintptr_t)__builtin_return_address(0);
    size_t room = sim::output_limit_bytes - sim::output_bytes;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(sim::output + sim::output_bytes, room, format, arguments);
    va_end(arguments);
    if (length < 0) return length;
    if ((size_t)length >= room) {
        sim::output_cut = true;
        sim::output_bytes = sim::output_limit_bytes;
    } else {
        sim::output_bytes += (size_t)length;
    }
    return length;
}
