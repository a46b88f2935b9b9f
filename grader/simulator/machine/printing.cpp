// The kernel's printf: linked before the C library's. What it does with its arguments is checked: a
// GPU's printf writes nowhere, and reads a string as the kernel itself would.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "findings.hpp"
#include "instrumentation.hpp"
#include "output.hpp"
#include "schedule.hpp"

namespace sim {

namespace {

// A string of at most `most` characters, read one by one.
void check_string(const char *text, size_t most, uintptr_t pc) {
    for (size_t index = 0; index < most; ++index) {
        access_memory((uintptr_t)(text + index), 1, 1, false, pc);
        if (!text[index]) return;
    }
}

[[noreturn]] void refuse(const char *from, const char *end, uintptr_t pc) {
    if (RawFinding *finding = report(print_format, pc, 0)) {
        size_t length = (size_t)(end - from);
        if (length >= sizeof finding->text) length = sizeof finding->text - 1;
        memcpy(finding->text, from, length);
    }
    abort_launch();
}

// A width or a precision: a number, or `*` for an argument. -1 where there is none.
const char *read_number(const char *at, va_list &arguments, int &number) {
    number = -1;
    if (*at == '*') {
        number = va_arg(arguments, int);
        return at + 1;
    }
    for (; *at >= '0' && *at <= '9'; ++at) {
        number = (number < 0 ? 0 : number < 100000 ? number * 10 : number) + (*at - '0');
    }
    return at;
}

// Takes the argument of a conversion; false for one that CUDA does not have.
bool take(char conversion, int longs, int precision, va_list &arguments, uintptr_t pc) {
    if (strchr("diouxXc", conversion)) {
        if (longs) {
            (void)va_arg(arguments, long long);
        } else {
            (void)va_arg(arguments, int);
        }
    } else if (strchr("eEfgGaA", conversion)) {
        (void)va_arg(arguments, double);
    } else if (conversion == 'p') {
        (void)va_arg(arguments, void *);
    } else if (conversion == 's' && longs == 0) {
        size_t most = precision < 0 ? SIZE_MAX : (size_t)precision;
        check_string(va_arg(arguments, const char *), most, pc);
    } else {
        return false;
    }
    return true;
}

void check_format(const char *format, va_list &arguments, uintptr_t pc) {
    check_string(format, SIZE_MAX, pc);
    for (const char *at = format; (at = strchr(at, '%'));) {
        const char *begin = at++;
        if (*at == '%') {
            ++at;
            continue;
        }
        int width, precision = -1, longs = 0;
        at += strspn(at, "-+ #0");
        at = read_number(at, arguments, width);
        if (*at == '.') {
            at = read_number(at + 1, arguments, precision);
            if (precision < 0 && at[-1] == '.') precision = 0;
        }
        for (; *at && strchr("hlzjt", *at); ++at) longs += *at != 'h';
        char conversion = *at;
        if (conversion) ++at;
        bool known = conversion && take(conversion, longs, precision, arguments, pc);
        if (!known) refuse(begin, at, pc);
    }
}

}  // namespace

}  // namespace sim

extern "C" int printf(const char *format, ...) {
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    sim::last_pc = pc;
    va_list arguments, copy;
    va_start(arguments, format);
    va_copy(copy, arguments);
    sim::check_format(format, copy, pc);
    va_end(copy);
    size_t room = sim::output_limit_bytes - sim::output_bytes;
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
