// Integer intrinsics of CUDA, bits, and conversions.
#pragma once

#include "type_traits"

static inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
static inline unsigned int __umul24(unsigned int x, unsigned int y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
static inline int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
static inline unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x * y) >> 32);
}
static inline long long __mul64hi(long long x, long long y) {
    return (long long)(((__int128)x * y) >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
static inline unsigned int __sad(int x, int y, unsigned int sum) {
    return sum + (x < y ? (unsigned int)y - (unsigned int)x : (unsigned int)x - (unsigned int)y);
}
static inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int sum) {
    return sum + (x < y ? y - x : x - y);
}
// Averages, the lower or ("r") the upper where there are two.
static inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
static inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
static inline unsigned int __uhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}
static inline unsigned int __urhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}
static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= ((x >> bit) & 1u) << (63 - bit);
    return reversed;
}
static inline unsigned int __brev(unsigned int x) { return (unsigned int)(__brevll(x) >> 32); }
// Each nibble of the selector chooses one of the eight bytes, or its sign in all eight bits.
static inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int chosen = 0;
    for (int place = 0; place < 4; ++place) {
        unsigned int nibble = selector >> (4 * place);
        unsigned int byte = (unsigned int)(bytes >> (8 * (nibble & 7u))) & 0xffu;
        if (nibble & 8u) byte = byte & 0x80u ? 0xffu : 0u;
        chosen |= byte << (8 * place);
    }
    return chosen;
}
// The shift is taken modulo 32, or ("c") is at most 32.
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) << (by & 31u) >> 32);
}
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (by & 31u));
}
static inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int by) {
    return by < 32 ? __funnelshift_l(low, high, by) : low;
}
static inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int by) {
    return by < 32 ? __funnelshift_r(low, high, by) : high;
}
// Sums of four products of bytes.
static inline int __dp4a(int x, int y, int sum) {
    unsigned int total = (unsigned int)sum;
    for (int at = 0; at < 32; at += 8) {
        total += (unsigned int)((signed char)(x >> at) * (signed char)(y >> at));
    }
    return (int)total;
}
static inline unsigned int __dp4a(unsigned int x, unsigned int y, unsigned int sum) {
    for (int at = 0; at < 32; at += 8) sum += ((x >> at) & 0xffu) * ((y >> at) & 0xffu);
    return sum;
}

template <class to_type, class from_type> static inline to_type sim_same_bits(from_type value) {
    static_assert(sizeof(to_type) == sizeof(from_type), "same width");
    return __builtin_bit_cast(to_type, value);
}
static inline int __float_as_int(float x) { return sim_same_bits<int>(x); }
static inline unsigned int __float_as_uint(float x) { return sim_same_bits<unsigned int>(x); }
static inline float __int_as_float(int x) { return sim_same_bits<float>(x); }
static inline float __uint_as_float(unsigned int x) { return sim_same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return sim_same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return sim_same_bits<double>(x); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned int)high << 32 |
                                            (unsigned int)low));
}

// What does not fit becomes the nearest number that does; what is none, 0 or only the highest bit.
template <class whole_, class real_> static inline whole_ sim_to_whole(real_ x) {
    constexpr int bits = 8 * sizeof(whole_);
    constexpr bool is_signed = std::is_signed_v<whole_>;
    constexpr real_ end = (real_)(1ull << (bits - 1)) * (is_signed ? 1 : 2);
    if (x != x) return sizeof(real_) == 8 || bits == 64 ? (whole_)(1ull << (bits - 1)) : 0;
    if (x >= end) return (whole_)(~0ull >> (64 - bits + is_signed));
    if (x <= (is_signed ? -end : 0)) return is_signed ? (whole_)(1ull << (bits - 1)) : 0;
    return (whole_)x;
}
#define SIM_TO_WHOLE(real, suffix, name, type)                              \
    static inline type __##real##2##name##_rn(real x) {                     \
        return sim_to_whole<type>(__builtin_rint##suffix(x));               \
    }                                                                       \
    static inline type __##real##2##name##_rz(real x) {                     \
        return sim_to_whole<type>(__builtin_trunc##suffix(x));              \
    }                                                                       \
    static inline type __##real##2##name##_rd(real x) {                     \
        return sim_to_whole<type>(__builtin_floor##suffix(x));              \
    }                                                                       \
    static inline type __##real##2##name##_ru(real x) {                     \
        return sim_to_whole<type>(__builtin_ceil##suffix(x));               \
    }
#define SIM_CONVERSIONS(name, type)                                         \
    SIM_TO_WHOLE(float, f, name, type)                                      \
    SIM_TO_WHOLE(double, , name, type)                                      \
    static inline float __##name##2float_rn(type x) { return (float)x; }
SIM_CONVERSIONS(int, int)
SIM_CONVERSIONS(uint, unsigned int)
SIM_CONVERSIONS(ll, long long)
SIM_CONVERSIONS(ull, unsigned long long)
#undef SIM_TO_WHOLE
#undef SIM_CONVERSIONS
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned int x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __double2float_rn(double x) { return (float)x; }
