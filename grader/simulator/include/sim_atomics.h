// Atomic functions: made by the machine, which may switch threads after each.
#pragma once

#define SIM_ATOMIC(name, type) type name(type *address, type value);
#define SIM_ATOMIC_INTEGERS(name) \
    SIM_ATOMIC(name, int)         \
    SIM_ATOMIC(name, unsigned int) SIM_ATOMIC(name, unsigned long long)

SIM_ATOMIC_INTEGERS(atomicAdd)
SIM_ATOMIC(atomicAdd, float)
SIM_ATOMIC(atomicAdd, double)
SIM_ATOMIC_INTEGERS(atomicExch)
SIM_ATOMIC(atomicExch, float)
SIM_ATOMIC_INTEGERS(atomicMin)
SIM_ATOMIC_INTEGERS(atomicMax)
SIM_ATOMIC_INTEGERS(atomicAnd)
SIM_ATOMIC_INTEGERS(atomicOr)
SIM_ATOMIC_INTEGERS(atomicXor)
SIM_ATOMIC(atomicSub, int)
SIM_ATOMIC(atomicSub, unsigned int)
SIM_ATOMIC(atomicInc, unsigned int)
SIM_ATOMIC(atomicDec, unsigned int)
int atomicCAS(int *address, int compare, int value);
unsigned int atomicCAS(unsigned int *address, unsigned int compare, unsigned int value);
unsigned long long atomicCAS(unsigned long long *address, unsigned long long compare,
                             unsigned long long value);

#undef SIM_ATOMIC
#undef SIM_ATOMIC_INTEGERS
