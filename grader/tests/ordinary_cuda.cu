// Ordinary CUDA in which grader/source.py must find nothing to refuse. A line `//// name` begins
// each piece; every piece compiles by itself.

//// brace on its own line
__global__ void f(int n)
{
}

//// static helper
static __device__ __forceinline__ float dot(float4 a, float4 b) { return a.x * b.x; }

//// host and device
__host__ __device__ constexpr int up(int a, int b) { return (a + b - 1) / b; }

//// constexpr
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

//// template
template <typename T, int N = (4 > 3)>
__device__ T first(T (&v)[N]) { return v[0]; }

//// template of templates
template <class T> struct Row { T value; };
template <template <class> class X, class Y = X<X<int>>>
__device__ Y make(Y y = {}) { return y; }

//// shift in a template
template <int N = 1 << 4> __global__ void f(float *p) { p[0] = N; }

//// specialisation
template <int N, bool B> __device__ float pick(float a) { return a + N; }
template <> __device__ float pick<4, (3 > 2)>(float a) { return a; }

//// explicit instantiation
template <int N> __global__ void f(const float *A, float *C) { C[N] = A[N]; }
template __global__ void f<16>(const float *A, float *C);

//// launch bounds
__global__ void __launch_bounds__(16 * 16, 2) f(float *p) { p[0] = 1; }
__launch_bounds__(256) __global__ void g(float *p) { p[0] = 1; }

//// attributes
[[nodiscard]] __device__ __attribute__((noinline)) int f(int a) { return a; }

//// default arguments with braces
struct Pair { float x, y; };
__device__ float f(Pair a = {0, 0}, Pair b = Pair{1, (2 > 1)}) { return a.x + b.y; }

//// lambda in a default argument
__device__ int f(int (*g)(int) = [](int a) { return a; }) { return g != nullptr; }

//// trailing return type
__device__ auto f(int a) -> decltype(a + 1) { return a; }

//// trailing return of a struct
struct Pair { float x, y; };
__device__ auto f(float a) -> struct Pair { return {a, a}; }

//// noexcept
__device__ int f(int a) noexcept(sizeof(int) == 4) { return a; }

//// linkage block
extern "C" {
__global__ void f(float *p) { p[0] = 0; }
}

//// linkage
extern "C" __global__ void f(float *p) { p[0] = 0; }

//// linkage under a condition
#ifdef __cplusplus
extern "C" {
#endif
__global__ void f(float *p) { p[0] = 0; }
#ifdef __cplusplus
}
#endif

//// namespaces
namespace tiles::detail { inline namespace v1 { __device__ void f() {} } }
namespace {
constexpr int T = 16;
__device__ int g() { return T; }
}

//// struct with members
struct alignas(16) Vec {
    float v[4];
    __device__ float &operator[](int i) { return v[i]; }
};
struct __align__(16) Four { float x = {1}, y{2}; };

//// struct with a base
template <bool B> struct Base { int a; };
template <int N> struct Child final : public Base<(N > 3)> { static constexpr int T = N; };

//// union and typedef
union Word { float f; unsigned u; };
typedef struct { float x, y; } Pair;
__device__ Pair make() { return {}; }

//// struct as a return type
struct Pair { float x, y; };
__device__ struct Pair make(float a) { return {a, a}; }

//// constructors
struct Point { int x, y; };
struct Tile {
    int a;
    Point b;
    __device__ Tile() : a{4}, b{1, 2} { a = 1; }
    __device__ explicit Tile(int x) : a(x), b{} {}
    __device__ ~Tile() {}
};

//// defaulted members
struct S {
    S() = default;
    S(const S &) = delete;
    S &operator=(const S &) = default;
    int x[2] = {1, 2};
};

//// operators
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, 0, 0, 0); }
__device__ float4 &operator+=(float4 &a, float4 b) { return a = a + b; }
struct F {
    int a;
    __device__ float operator()(int i) const { return i; }
    __device__ operator float() const { return 0; }
    __device__ bool operator<(const F &o) const { return a < o.a; }
    __device__ F *operator->() { return this; }
    __device__ F &operator=(int i) { a = i; return *this; }
};

//// access
class S {
public:
    __device__ S() {}
private:
    __device__ int f() const { return 0; }
};

//// marked where it is declared
__device__ float f(float);
float f(float x) { return x; }
struct S { __device__ int g(); };
int S::g() { return 1; }

//// member of a class template
template <int N> struct S { __device__ int f(); };
template <int N> __device__ int S<N>::f() { if (N) { return 1; } return 2; }

//// friend
struct S { friend __device__ int f(S s) { return 1; } };

//// types without code
enum class Side : int { left = 1, right };
enum { WIDTH = 16 };
using Row = float[16];
using Function = int (*)(int);
typedef float Tile[WIDTH][WIDTH];
static_assert(16 % 4 == 0, "a { b");

//// variables with values
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int table[2][2]{{1}, {2}};
constexpr float4 zero{0, 0, 0, 0};

//// lambda in a variable
constexpr auto up = [](int a, int b) { return (a + b - 1) / b; };

//// lambda in a function
__global__ void f(float *p) { auto g = [&](int i) { p[i] = 0; }; g(1); }

//// struct in a function
__global__ void f(int *p) { struct S { int n; int g() { return n; } }; p[0] = sizeof(S); }

//// braces and words in literals
__device__ const char *s = "{ ' {", *r = R"({{)", *t = "asm int main() { f<<<1>>>() } mma.sync";
__device__ char c = '{', q = '\'', d = '"';

//// macro for qualifiers
#define HD __host__ __device__ \
    inline
HD int f(int a) { return a; }

//// macro through a macro
#define DEV __device__
#define FN static DEV
FN int f(int a) { return a; }

//// macro under a condition
#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif
HD int f() { return 1; }

//// macro that begins a kernel
#define KERNEL(n) extern "C" __global__ void n
KERNEL(f)(const float *A, float *C) { C[0] = A[0]; }

//// macro that writes a head
#define HEAD(n) __global__ void n(const float *A, float *C)
HEAD(f) { C[0] = A[0]; }

//// macro that writes parameters
#define PARAMETERS (const float *A, int n)
__global__ void f PARAMETERS { }

//// macro that writes functions
#define ADD(T) __device__ T add(T a, T b) { return a + b; }
ADD(float)
ADD(int)
__global__ void f() {}

//// macro for an attribute
#define ALIGN(n) __align__(n)
struct ALIGN(16) S { float v[4]; };

//// macros that hold braces
#define BEGIN namespace a {
#define END }
BEGIN
__device__ int f() { return 1; }
END

//// two heads for one body
#ifdef WIDE
__global__ void f(float4 *p) {
#else
__global__ void f(float *p) {
#endif
    p[0] = {};
}
__device__ void g() {}

//// two loops for one body
__global__ void f(int n) {
#if WIDTH == 16
    for (;;) {
#else
    while (n) {
#endif
        --n;
    }
}
__device__ void g() {}

//// dead code
#if 0
#include <iostream>
int main() { f<<<1, 1>>>(); it's dead }
#endif

//// comments
// int main() {
/* #include <iostream>
   f<<<1, 1>>>(); asm(""); */

//// shifts
__device__ int f(int a) { return 1 << a << 2 >> 1; }

//// inline PTX in functions
#define LANE(i) asm("mov.u32 %0, %%laneid;" : "=r"(i))
#define READ(n) __device__ int n() { int i; LANE(i); return i; }
__device__ int lane() { int i; asm volatile("mov.u32 %0, %%laneid;" : "=r"(i)); return i; }
__device__ int again() { int i; LANE(i); return i; }
READ(first) READ(second)

//// pragmas
__device__ int f(int a) {
#pragma unroll 4
    for (int i = 0; i < 4; ++i) { a += i; }
    return a;
}

//// null directive
#
# define T 4
__device__ int f() { return T; }

//// numbers
__device__ float f() { return 1'000'000 * 0x1p-3f + 1e+5f; }
