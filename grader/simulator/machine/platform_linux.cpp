#include "platform.hpp"

#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace sim {

namespace {

void (*fault_handler)(const Fault &);
pid_t own;

uintptr_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

const char *signal_name(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGABRT: return "SIGABRT";
        case SIGPROF: return "SIGPROF";
        case SIGSYS: return "SIGSYS";
        default: return "SIGTRAP";
    }
}

// A kernel that may make no system calls cannot send itself a signal; one that may is itself.
bool sent_by_another(const siginfo_t *info) { return info->si_code <= 0 && info->si_pid != own; }

void on_signal(int signal, siginfo_t *info, void *context) {
    if (sent_by_another(info)) quit(signalled);
    fault_handler({signal, signal_name(signal), (uintptr_t)info->si_addr,
                   program_counter((const ucontext_t *)context), signal == SIGPROF,
                   signal == SIGSYS ? info->si_syscall : -1});
    quit(own_fault);
}

}  // namespace

size_t page_bytes() { return (size_t)sysconf(_SC_PAGESIZE); }

void *reserve(size_t bytes) {
    size_t page = page_bytes(), inside = (bytes + page - 1) / page * page;
    void *memory = mmap(nullptr, inside + 2 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        const char text[] = "the simulator's worker could not reserve memory\n";
        write_fully(2, text, sizeof text - 1);
        quit(no_memory);
    }
    protect(memory, page);
    protect((char *)memory + page + inside, page);
    return (char *)memory + page;
}

void protect(void *begin, size_t bytes) { mprotect(begin, bytes, PROT_NONE); }

void discard(void *begin, size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); }

void on_fault(void (*handler)(const Fault &)) {
    constexpr size_t handler_stack_bytes = 64 * 1024;
    fault_handler = handler;
    own = getpid();
    stack_t stack{};
    stack.ss_sp = reserve(handler_stack_bytes);
    stack.ss_size = handler_stack_bytes;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF, SIGSYS}) {
        sigaction(signal, &action, nullptr);
    }
}

void limit_cpu_seconds(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_PROF, &timer, nullptr);
}

bool read_fully(int descriptor, void *to, size_t bytes) {
    char *at = (char *)to;
    while (bytes > 0) {
        ssize_t got = read(descriptor, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

bool write_fully(int descriptor, const void *from, size_t bytes) {
    const char *at = (const char *)from;
    while (bytes > 0) {
        ssize_t put = write(descriptor, at, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        bytes -= (size_t)put;
    }
    return true;
}

void quit(Ending ending) { _exit(ending); }

}  // namespace sim
