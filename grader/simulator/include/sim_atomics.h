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

// Of the block alone, or of the whole system: the same for one launch.
#define atomicAdd_block atomicAdd
#define atomicSub_block atomicSub
#define atomicExch_block atomicExch
#define atomicMin_block atomicMin
#define atomicMax_block atomicMax
#define atomicAnd_block atomicAnd
#define atomicOr_block atomicOr
#define atomicXor_block atomicXor
#define atomicInc_block atomicInc
#define atomicDec_block atomicDec
#define atomicCAS_block atomicCAS
#define atomicAdd_system atomicAdd
#define atomicSub_system atomicSub
#define atomicExch_system atomicExch
#define atomicMin_system atomicMin
#define atomicMax_system atomicMax
#define atomicAnd_system atomicAnd
#define atomicOr_system atomicOr
#define atomicXor_system atomicXor
#define atomicInc_system atomicInc
#define atomicDec_system atomicDec
#define atomicCAS_system atomicCAS

#undef SIM_ATOMIC
#undef SIM_ATOMIC_INTEGERS
