// What this process gives up before it runs a kernel: everything but its two pipes, its memory as
// it is, and its end. A kernel that finds a way out of its language finds nothing behind it.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform.hpp"

namespace sim {

namespace {

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
constexpr uint32_t other_abi = 0x40000000;  // the numbers of x32 begin here
#else
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t other_abi = 0x80000000;
#endif

constexpr uint32_t low_half(int argument) {
    return (uint32_t)(offsetof(seccomp_data, args) + 8 * argument);
}

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (uint32_t)(what))
#define ALLOW(number)                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 1),     \
        RETURN(SECCOMP_RET_ALLOW)
// Memory is as it is; the C library copes with being refused more.
#define REFUSE(number)                                                 \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 1),     \
        RETURN(SECCOMP_RET_ERRNO | ENOMEM)
// Only with this value of that argument.
#define ALLOW_WITH(number, argument, value)                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 4),     \
        LOAD(low_half(argument)),                                      \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, 1),  \
        RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_TRAP)

sock_filter filter[] = {
    LOAD(offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
    RETURN(SECCOMP_RET_TRAP),
    LOAD(offsetof(seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, other_abi, 0, 1),
    RETURN(SECCOMP_RET_TRAP),
    ALLOW_WITH(SYS_read, 0, 0),
    ALLOW_WITH(SYS_write, 0, 1),
    ALLOW_WITH(SYS_setitimer, 0, ITIMER_PROF),
    ALLOW_WITH(SYS_madvise, 2, MADV_DONTNEED),
    ALLOW(SYS_exit),
    ALLOW(SYS_exit_group),
    ALLOW(SYS_rt_sigreturn),
    ALLOW(SYS_restart_syscall),
    REFUSE(SYS_brk),
    REFUSE(SYS_mmap),
    REFUSE(SYS_mremap),
    REFUSE(SYS_munmap),
    RETURN(SECCOMP_RET_TRAP),
};

bool forbid_system_calls() {
    sock_fprog program{sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    // Without this flag older kernels slow the process down.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) {
        return true;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

void limit(int resource, rlim_t value) {
    rlimit both{value, value};
    setrlimit((__rlimit_resource_t)resource, &both);
}

// Of all launches together; a launch has its own limit.
constexpr rlim_t cpu_seconds = 3600;

void limit_resources() {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_CPU, cpu_seconds);
    limit(RLIMIT_AS, 0);  // what is mapped stays
}

void close_descriptors() {
    constexpr int first = 2, last = 4096;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
    for (int descriptor = first; descriptor < last; ++descriptor) close(descriptor);
}

// The C library's first memory and the scheduler's stack: neither can grow later.
__attribute__((noinline)) void touch_memory() {
    free(malloc(64));
    volatile char stack[256 * 1024];
    for (size_t at = 0; at < sizeof stack; at += 1024) stack[at] = 0;
}

}  // namespace

bool enter_sandbox() {
    touch_memory();
    close_descriptors();
    limit_resources();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return forbid_system_calls();
}

const char *system_call_name(long number) {
    switch (number) {
        case SYS_read: return "read";
        case SYS_write: return "write";
        case SYS_openat: return "openat";
        case SYS_close: return "close";
        case SYS_clone: return "clone";
        case SYS_execve: return "execve";
        case SYS_kill: return "kill";
        case SYS_tgkill: return "tgkill";
        case SYS_getpid: return "getpid";
        case SYS_getppid: return "getppid";
        case SYS_socket: return "socket";
        case SYS_connect: return "connect";
        case SYS_ptrace: return "ptrace";
        case SYS_unlinkat: return "unlinkat";
        case SYS_rt_sigaction: return "rt_sigaction";
        case SYS_rt_sigprocmask: return "rt_sigprocmask";
#ifdef SYS_open  // the older calls, which aarch64 never had
        case SYS_open: return "open";
        case SYS_fork: return "fork";
        case SYS_vfork: return "vfork";
        case SYS_unlink: return "unlink";
#endif
        default: return nullptr;
    }
}

}  // namespace sim
