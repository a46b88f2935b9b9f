// Arithmetic functions of CUDA: the C math library and its fast variants.
#pragma once

#include "type_traits"

// As in C++, an integer is taken for a double, and so are numbers of different types.
template <class... types_>
using sim_as_double = std::enable_if_t<
    (std::is_arithmetic_v<types_> && ...) &&
        !(std::is_same_v<types_, float> && ...) && !(std::is_same_v<types_, double> && ...),
    double>;
#define SIM_MATH1(name)                                                                     \
    static inline float name##f(float x) { return __builtin_##name##f(x); }                 \
    static inline double name(double x) { return __builtin_##name(x); }                     \
    static inline float name(float x) { return __builtin_##name##f(x); }                    \
    template <class type_> static inline sim_as_double<type_> name(type_ x) {               \
        return __builtin_##name((double)x);                                                 \
    }
#define SIM_MATH2(name)                                                                     \
    static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }     \
    static inline double name(double x, double y) { return __builtin_##name(x, y); }        \
    static inline float name(float x, float y) { return __builtin_##name##f(x, y); }        \
    template <class first_, class second_>                                                  \
    static inline sim_as_double<first_, second_> name(first_ x, second_ y) {                \
        return __builtin_##name((double)x, (double)y);                                      \
    }
// To a whole number.
#define SIM_MATH0(name, type)                                                               \
    static inline type name##f(float x) { return __builtin_##name##f(x); }                  \
    static inline type name(double x) { return __builtin_##name(x); }                       \
    static inline type name(float x) { return __builtin_##name##f(x); }
SIM_MATH1(sqrt)
SIM_MATH1(fabs)
SIM_MATH1(floor)
SIM_MATH1(ceil)
SIM_MATH1(round)
SIM_MATH1(trunc)
SIM_MATH1(rint)
SIM_MATH1(nearbyint)
SIM_MATH1(exp)
SIM_MATH1(exp2)
SIM_MATH1(log)
SIM_MATH1(log2)
SIM_MATH1(log10)
SIM_MATH1(sin)
SIM_MATH1(cos)
SIM_MATH1(tan)
SIM_MATH1(tanh)
SIM_MATH1(sinh)
SIM_MATH1(cosh)
SIM_MATH1(asin)
SIM_MATH1(acos)
SIM_MATH1(atan)
SIM_MATH1(asinh)
SIM_MATH1(acosh)
SIM_MATH1(atanh)
SIM_MATH1(cbrt)
SIM_MATH1(expm1)
SIM_MATH1(log1p)
SIM_MATH1(erf)
SIM_MATH1(erfc)
SIM_MATH1(lgamma)
SIM_MATH1(tgamma)
SIM_MATH1(logb)
SIM_MATH2(pow)
SIM_MATH2(fmin)
SIM_MATH2(fmax)
SIM_MATH2(fmod)
SIM_MATH2(fdim)
SIM_MATH2(hypot)
SIM_MATH2(atan2)
SIM_MATH2(copysign)
SIM_MATH2(remainder)
SIM_MATH2(nextafter)
SIM_MATH0(lround, long)
SIM_MATH0(lrint, long)
SIM_MATH0(llround, long long)
SIM_MATH0(llrint, long long)
#undef SIM_MATH0
#undef SIM_MATH1
#undef SIM_MATH2
// Two results, one of them stored where the instrumentation sees it.
#define SIM_TWO_RESULTS(type, f)                                                       \
    static inline void sincos##f(type x, type *sine, type *cosine) {                   \
        *sine = __builtin_sin##f(x);                                                   \
        *cosine = __builtin_cos##f(x);                                                 \
    }                                                                                  \
    static inline type modf##f(type x, type *whole) {                                  \
        type rest = __builtin_isinf(x) ? 0 : x - __builtin_trunc##f(x);                \
        *whole = __builtin_trunc##f(x);                                                \
        return __builtin_copysign##f(rest, x);                                         \
    }                                                                                  \
    static inline type frexp##f(type x, int *exponent) {                               \
        bool plain = x != 0 && __builtin_isfinite(x);                                  \
        *exponent = plain ? (int)__builtin_logb##f(x) + 1 : 0;                         \
        return plain ? __builtin_scalbn##f(x, -(int)__builtin_logb##f(x) - 1) : x;     \
    }
SIM_TWO_RESULTS(float, f)
SIM_TWO_RESULTS(double, )
#undef SIM_TWO_RESULTS
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
template <class first_, class second_, class third_>
static inline sim_as_double<first_, second_, third_> fma(first_ x, second_ y, third_ z) {
    return __builtin_fma((double)x, (double)y, (double)z);
}
static inline float exp10f(float x) { return __builtin_powf(10.0f, x); }
static inline double exp10(double x) { return __builtin_pow(10.0, x); }
static inline float ldexpf(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
static inline double ldexp(double x, int exponent) { return __builtin_ldexp(x, exponent); }
static inline float scalbnf(float x, int exponent) { return __builtin_scalbnf(x, exponent); }
static inline double scalbn(double x, int exponent) { return __builtin_scalbn(x, exponent); }
static inline float nanf(const char *) { return __builtin_nanf(""); }
static inline double nan(const char *) { return __builtin_nan(""); }
static inline float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
static inline double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
static inline float rhypotf(float x, float y) { return 1.0f / __builtin_hypotf(x, y); }
static inline double rhypot(double x, double y) { return 1.0 / __builtin_hypot(x, y); }
static inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool signbit(float x) { return __builtin_signbitf(x) != 0; }
static inline bool signbit(double x) { return __builtin_signbit(x) != 0; }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long labs(long x) { return abs(x); }
static inline long long llabs(long long x) { return abs(x); }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline double abs(double x) { return __builtin_fabs(x); }
#ifndef INFINITY
#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define NAN __builtin_nanf("")
#endif
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#define SIM_MIN_MAX(type)                                                   \
    static constexpr inline type min(type x, type y) { return y < x ? y : x; } \
    static constexpr inline type max(type x, type y) { return x < y ? y : x; }
SIM_MIN_MAX(int)
SIM_MIN_MAX(unsigned int)
SIM_MIN_MAX(long)
SIM_MIN_MAX(unsigned long)
SIM_MIN_MAX(long long)
SIM_MIN_MAX(unsigned long long)
#undef SIM_MIN_MAX
// CUDA gives mixed signedness to the unsigned overload.
#define SIM_MIXED(name, type)                                                              \
    static constexpr inline unsigned type name(type x, unsigned type y) {                  \
        return name((unsigned type)x, y);                                                  \
    }                                                                                      \
    static constexpr inline unsigned type name(unsigned type x, type y) {                  \
        return name(x, (unsigned type)y);                                                  \
    }
SIM_MIXED(min, int)
SIM_MIXED(max, int)
SIM_MIXED(min, long)
SIM_MIXED(max, long)
SIM_MIXED(min, long long)
SIM_MIXED(max, long long)
#undef SIM_MIXED
static inline float min(float x, float y) { return __builtin_fminf(x, y); }
static inline float max(float x, float y) { return __builtin_fmaxf(x, y); }
static inline double min(double x, double y) { return __builtin_fmin(x, y); }
static inline double max(double x, double y) { return __builtin_fmax(x, y); }
static inline double min(float x, double y) { return min((double)x, y); }
static inline double min(double x, float y) { return min(x, (double)y); }
static inline double max(float x, double y) { return max((double)x, y); }
static inline double max(double x, float y) { return max(x, (double)y); }
static inline unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
static inline unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
static inline long long llmin(long long x, long long y) { return min(x, y); }
static inline long long llmax(long long x, long long y) { return max(x, y); }
static inline unsigned long long ullmin(unsigned long long x, unsigned long long y) {
    return min(x, y);
}
static inline unsigned long long ullmax(unsigned long long x, unsigned long long y) {
    return max(x, y);
}

static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frsqrt_rn(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __log2f(float x) { return __builtin_log2f(x); }
static inline float __log10f(float x) { return __builtin_log10f(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __tanf(float x) { return __builtin_tanf(x); }
static inline void __sincosf(float x, float *sine, float *cosine) { sincosf(x, sine, cosine); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
