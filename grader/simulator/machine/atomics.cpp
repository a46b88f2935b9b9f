// Atomic functions: whole by construction, since a fiber is only left at switches; after each, the
// other threads may run.
#include <cstdint>

#include "instrumentation.hpp"
#include "schedule.hpp"

#define SIM_ATOMIC(name, type, result, use)                                                \
    type name(type *address, type value) {                                                 \
        sim::access_memory((uintptr_t)address, sizeof(type), sizeof(type), true,           \
                           (uintptr_t)__builtin_return_address(0), sim::use);              \
        type old = *address;                                                               \
        *address = (result);                                                               \
        sim::let_others_run();                                                             \
        return old;                                                                        \
    }
#define SIM_ATOMIC_INTEGERS(name, result, use)    \
    SIM_ATOMIC(name, int, result, use)            \
    SIM_ATOMIC(name, unsigned int, result, use)   \
    SIM_ATOMIC(name, unsigned long long, result, use)

SIM_ATOMIC_INTEGERS(atomicAdd, old + value, updates)
SIM_ATOMIC(atomicAdd, float, old + value, updates)
SIM_ATOMIC(atomicAdd, double, old + value, updates)
SIM_ATOMIC_INTEGERS(atomicExch, value, exchanges)
SIM_ATOMIC(atomicExch, float, value, exchanges)
SIM_ATOMIC_INTEGERS(atomicMin, value < old ? value : old, updates)
SIM_ATOMIC_INTEGERS(atomicMax, old < value ? value : old, updates)
SIM_ATOMIC_INTEGERS(atomicAnd, old &value, updates)
SIM_ATOMIC_INTEGERS(atomicOr, old | value, updates)
SIM_ATOMIC_INTEGERS(atomicXor, old ^ value, updates)
SIM_ATOMIC(atomicSub, int, old - value, updates)
SIM_ATOMIC(atomicSub, unsigned int, old - value, updates)
SIM_ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1, updates)
SIM_ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1, updates)

#define SIM_COMPARE_AND_SWAP(type)                                                         \
    type atomicCAS(type *address, type compare, type value) {                              \
        sim::access_memory((uintptr_t)address, sizeof(type), sizeof(type), true,           \
                           (uintptr_t)__builtin_return_address(0), sim::updates);          \
        type old = *address;                                                               \
        if (old == compare) *address = value;                                              \
        sim::let_others_run();                                                             \
        return old;                                                                        \
    }
SIM_COMPARE_AND_SWAP(int)
SIM_COMPARE_AND_SWAP(unsigned int)
SIM_COMPARE_AND_SWAP(unsigned long long)
