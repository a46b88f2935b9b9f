// What CUDA C++ offers to a kernel, for g++ and clang++. Every file sees it first, as with nvcc.
// No name here is a single capital letter or an all-capital word a student might #define.
#pragma once

// What nvcc defines, in the version that requirements/nvcc.txt names.
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 5
#define __CUDACC_VER_BUILD__ 37
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__

#include <stddef.h>
#include <stdint.h>

#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __constant__
// thread_local: the symbol table gives every shared array its name and size, `extern` and templates
// work, and "used" keeps arrays that are only written. All threads of a block share one OS thread.
#define __shared__ __attribute__((used)) thread_local
#define __grid_constant__
// The compiler works the numbers out; the name of the variable keeps them, and the line.
template <int line, int threads, int blocks, int cluster> struct sim_launch_bounds {
    __attribute__((used)) static inline const char record = 0;
    static constexpr int alignment(const char * = &record) { return 16; }
};
// Of the numbers one, so that a `>` in them stands in parentheses.
constexpr int sim_bound(int place, int threads, int blocks = 0, int cluster = 0) {
    return place == 0 ? threads : place == 1 ? blocks : cluster;
}
#define __launch_bounds__(...)                                                             \
    __attribute__((aligned(                                                                \
        sim_launch_bounds<__LINE__, sim_bound(0, __VA_ARGS__), sim_bound(1, __VA_ARGS__),  \
                          sim_bound(2, __VA_ARGS__)>::alignment())))
#define __maxnreg__(...)  // registers are no part of what a kernel does
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // neither compiler inlines unasked, and g++ may have to (simulator/unseen.py)
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
#define __builtin_align__(bytes) __align__(bytes)
#define __nv_pure__

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long ulong;

#include "vector_types.h"

// `__shared__ alignas(16) float As[...]` is good CUDA, but C++ wants alignas before thread_local, so
// it becomes an attribute. `size_t(argument)` is a number's value, and the type of a function for a
// type.
template <class> struct sim_aligned_as;
template <class type> struct sim_aligned_as<size_t(type)> {
    static constexpr size_t bytes = __alignof__(type);
};
template <class function> constexpr size_t sim_alignment() { return sim_aligned_as<function>::bytes; }
template <size_t bytes> constexpr size_t sim_alignment() { return bytes ? bytes : 1; }
#define alignas(...) __attribute__((aligned(sim_alignment<size_t(__VA_ARGS__)>())))

// Functions, because the compilers would instrument the reads of variables; "const", so that a
// kernel calls each at most once or twice. As in CUDA, what they give cannot be changed.
extern "C" {
__attribute__((const)) const uint3 sim_thread_index();
__attribute__((const)) const uint3 sim_block_index();
__attribute__((const)) const dim3 sim_block_dim();
__attribute__((const)) const dim3 sim_grid_dim();
}
#ifdef SIM_AS_IN_CUDA
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
#else
#define threadIdx (sim_thread_index())
#define blockIdx (sim_block_index())
#define blockDim (sim_block_dim())
#define gridDim (sim_grid_dim())
#endif
constexpr int warpSize = 32;

#include "sim_synchronisation.h"
#include "sim_atomics.h"
#include "sim_arithmetic.h"
#include "sim_intrinsics.h"

extern "C" {
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
void sim_assertion_failed(const char *expression, int line) __attribute__((noreturn));
void sim_trap() __attribute__((noreturn));
long long sim_clock();
}
// A compiler expands these in place, where nobody sees them; calls of functions are checked.
#define __builtin_memcpy(...) memcpy(__VA_ARGS__)
#define __builtin_memmove(...) memmove(__VA_ARGS__)
#define __builtin_memset(...) memset(__VA_ARGS__)
#define __builtin_sincosf(...) sincosf(__VA_ARGS__)
#define __builtin_sincos(...) sincos(__VA_ARGS__)
#define __builtin_modff(...) modff(__VA_ARGS__)
#define __builtin_modf(...) modf(__VA_ARGS__)
#define __builtin_frexpf(...) frexpf(__VA_ARGS__)
#define __builtin_frexp(...) frexp(__VA_ARGS__)
static inline void __trap() { sim_trap(); }
static inline long long clock64() { return sim_clock(); }
static inline int clock() { return (int)sim_clock(); }
static inline void __nanosleep(unsigned int) {}

// Cache hints change the speed of a load, not its value.
template <class value_type> static inline value_type __ldg(const value_type *from) { return *from; }
template <class value_type> static inline value_type __ldca(const value_type *from) { return *from; }
template <class value_type> static inline value_type __ldcg(const value_type *from) { return *from; }
template <class value_type> static inline value_type __ldcs(const value_type *from) { return *from; }
template <class value_type> static inline value_type __ldlu(const value_type *from) { return *from; }
template <class value_type> static inline value_type __ldcv(const value_type *from) { return *from; }
template <class value_type> using sim_same = std::enable_if_t<true, value_type>;  // converts
template <class value_type> static inline void __stwb(value_type *to, sim_same<value_type> value) { *to = value; }
template <class value_type> static inline void __stcg(value_type *to, sim_same<value_type> value) { *to = value; }
template <class value_type> static inline void __stcs(value_type *to, sim_same<value_type> value) { *to = value; }
template <class value_type> static inline void __stwt(value_type *to, sim_same<value_type> value) { *to = value; }

// What nvcc, too, takes in without being asked.
#include "assert.h"
#include "cmath"
#include "cstddef"
#include "limits.h"
#include "utility"
