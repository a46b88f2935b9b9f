// CUDA's vector types. A whole vector moves as one value of its own width: a plain struct would be
// split into scalar accesses by both compilers, and alignment faults and counters would be wrong.
#pragma once

struct sim_first_only {  // lets `float4 v = {0.f}` work and `float4 v = 0.f` not, as in CUDA
    template <class value_type> struct of {
        value_type value;
        constexpr of(value_type first) : value(first) {}
    };
};

// In a union, grader/source/unions.py puts sim_plain_float4 for float4: a union can be copied only
// when its members have no copy of their own. The empty array keeps g++ from splitting such copies.
#define SIM_PLAIN(name)                                                                             \
    volatile char sim_kept[0];                                                                      \
    sim_plain_##name() = default;                                                                   \
    sim_plain_##name(const name &other) { *(name *)this = other; }                                  \
    template <int = 0> /* so that `v = {1, 2, 3, 4}` has one best match, the plain copy */          \
    sim_plain_##name &operator=(const name &other) {                                                \
        *(name *)this = other;                                                                      \
        return *this;                                                                               \
    }                                                                                               \
    operator name &() { return *(name *)this; }                                                     \
    operator const name &() const { return *(const name *)this; }                                   \
    name *operator&() { return (name *)this; }                                                      \
    const name *operator&() const { return (const name *)this; }

#ifdef SIM_AS_IN_CUDA  // for grader/simulator/compiler.py: an aggregate, which any kernel may copy
#define SIM_OWN(name, ...)
#else
#define SIM_OWN(name, ...)                                                                          \
    name() = default;                                                                               \
    __VA_ARGS__                                                                                     \
    name(const name &other) { *(sim_whole *)this = *(const sim_whole *)&other; }                    \
    name &operator=(const name &other) {                                                            \
        *(sim_whole *)this = *(const sim_whole *)&other;                                            \
        return *this;                                                                               \
    }
#endif

#define SIM_VECTOR2(name, scalar)                                                                   \
    struct __attribute__((aligned(2 * sizeof(scalar)))) name {                                      \
        scalar x, y;                                                                                \
        typedef scalar sim_whole __attribute__((vector_size(2 * sizeof(scalar)), may_alias));       \
        SIM_OWN(name,                                                                               \
                constexpr name(sim_first_only::of<scalar> first) : x(first.value), y() {}           \
                constexpr name(scalar x_, scalar y_) : x(x_), y(y_) {})                             \
    };                                                                                              \
    struct __attribute__((aligned(2 * sizeof(scalar)))) sim_plain_##name {                          \
        scalar x, y;                                                                                \
        sim_plain_##name(sim_first_only::of<scalar> first) : x(first.value), y() {}                 \
        sim_plain_##name(scalar x_, scalar y_) : x(x_), y(y_) {}                                    \
        SIM_PLAIN(name)                                                                             \
    };                                                                                              \
    static inline name make_##name(scalar x_, scalar y_) { return {x_, y_}; }

#define SIM_VECTOR4(name, scalar)                                                                   \
    struct __attribute__((aligned(4 * sizeof(scalar)))) name {                                      \
        scalar x, y, z, w;                                                                          \
        typedef scalar sim_whole __attribute__((vector_size(4 * sizeof(scalar)), may_alias));       \
        SIM_OWN(name,                                                                               \
                constexpr name(sim_first_only::of<scalar> first)                                    \
                    : x(first.value), y(), z(), w() {}                                              \
                constexpr name(scalar x_, scalar y_, scalar z_ = 0, scalar w_ = 0)                  \
                    : x(x_), y(y_), z(z_), w(w_) {})                                                \
    };                                                                                              \
    struct __attribute__((aligned(4 * sizeof(scalar)))) sim_plain_##name {                          \
        scalar x, y, z, w;                                                                          \
        sim_plain_##name(sim_first_only::of<scalar> first)                                          \
            : x(first.value), y(), z(), w() {}                                                      \
        sim_plain_##name(scalar x_, scalar y_, scalar z_ = 0, scalar w_ = 0)                        \
            : x(x_), y(y_), z(z_), w(w_) {}                                                         \
        SIM_PLAIN(name)                                                                             \
    };                                                                                              \
    static inline name make_##name(scalar x_, scalar y_, scalar z_, scalar w_) {                    \
        return {x_, y_, z_, w_};                                                                    \
    }

// One and three elements are no power of two wide: CUDA, too, moves them element by element.
#define SIM_VECTOR1(name, scalar) \
    struct name {                 \
        scalar x;                 \
    };                            \
    static inline name make_##name(scalar x_) { return name{x_}; }
#define SIM_VECTOR3(name, scalar) \
    struct name {                 \
        scalar x, y, z;           \
    };                            \
    static inline name make_##name(scalar x_, scalar y_, scalar z_) { return name{x_, y_, z_}; }

#define SIM_VECTORS(prefix, scalar) \
    SIM_VECTOR1(prefix##1, scalar)  \
    SIM_VECTOR2(prefix##2, scalar)  \
    SIM_VECTOR3(prefix##3, scalar)  \
    SIM_VECTOR4(prefix##4, scalar)

SIM_VECTORS(char, signed char)
SIM_VECTORS(uchar, unsigned char)
SIM_VECTORS(short, short)
SIM_VECTORS(ushort, unsigned short)
SIM_VECTORS(int, int)
SIM_VECTORS(uint, unsigned int)
SIM_VECTORS(float, float)
SIM_VECTOR1(double1, double)
SIM_VECTOR2(double2, double)
SIM_VECTOR3(double3, double)
SIM_VECTOR1(long1, long)
SIM_VECTOR2(long2, long)
SIM_VECTOR3(long3, long)
SIM_VECTOR1(ulong1, unsigned long)
SIM_VECTOR2(ulong2, unsigned long)
SIM_VECTOR3(ulong3, unsigned long)
SIM_VECTOR1(longlong1, long long)
SIM_VECTOR2(longlong2, long long)
SIM_VECTOR3(longlong3, long long)
SIM_VECTOR1(ulonglong1, unsigned long long)
SIM_VECTOR2(ulonglong2, unsigned long long)
SIM_VECTOR3(ulonglong3, unsigned long long)

#undef SIM_VECTORS
#undef SIM_VECTOR1
#undef SIM_VECTOR2
#undef SIM_VECTOR3
#undef SIM_VECTOR4
#undef SIM_PLAIN
#undef SIM_OWN

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 from) : x(from.x), y(from.y), z(from.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
