// Enough of CUDA C++ to run kernels without barriers on the host, thread after thread: what the
// tests of timing put in the place of nvcc and a GPU (fake_pycuda.py).
#pragma once

#include <cmath>
#include <cstdio>
#include <ctime>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __launch_bounds__(...)

struct Place {
    unsigned x, y, z;
};
static Place blockIdx, threadIdx, blockDim, gridDim;

// As in CUDA the value has the type of what is pointed to, and is converted to it.
template <class T>
static T atomicAdd(T *place, std::type_identity_t<T> value) {
    T before = *place;
    *place += value;
    return before;
}
template <class T>
static T atomicMin(T *place, std::type_identity_t<T> value) {
    T before = *place;
    if (value < before) *place = value;
    return before;
}

static inline unsigned long long host_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// Arguments arrive as for cuLaunchKernel: a pointer to each, of the size that the kernel expects.
template <class... P, std::size_t... I>
static void call(void (*kernel)(P...), void **arguments, std::index_sequence<I...>) {
    kernel(*static_cast<P *>(arguments[I])...);
}

template <class... P>
static void launch(void (*kernel)(P...), const unsigned *dims, void **arguments) {
    blockDim = {dims[0], dims[1], dims[2]};
    gridDim = {dims[3], dims[4], 1};
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
                    call(kernel, arguments, std::index_sequence_for<P...>{});
}

// The sizes of the parameters, so that an argument of another size is noticed.
template <class... P>
static unsigned sizes(void (*)(P...), unsigned *out) {
    unsigned all[] = {sizeof(P)...}, count = 0;
    for (unsigned size : all) out[count++] = size;
    return count;
}
