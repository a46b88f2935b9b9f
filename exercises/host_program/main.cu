// A complete CUDA program around one of your kernels: what the grader does for you, in one file.
//
//   cd exercises/host_program
//   nvcc -std=c++17 -arch=native -I ../../grader/include -I ../../starter -DEXERCISE=2 main.cu
//   ./a.out 500 400 300        (M N K)
//
// EXERCISE is 1 to 4. The kernel file is included like a header, so both compile as one program.
// Exit status: 0 the product is right, 1 it is wrong, 2 the program could not run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#ifndef EXERCISE
#define EXERCISE 1
#endif

#if EXERCISE == 1
#include "01_naive.cu"
#define KERNEL matmul_naive
#elif EXERCISE == 2
#include "02_tiled.cu"
#define KERNEL matmul_tiled
#elif EXERCISE == 3
#include "03_padded.cu"
#define KERNEL matmul_padded
#elif EXERCISE == 4
#include "04_tuned.cu"
#define KERNEL matmul_tuned
#else
#error "EXERCISE is 1, 2, 3 or 4"
#endif

constexpr bool B_IS_TRANSPOSED = EXERCISE == 3;  // then B is stored N x K
constexpr int TIMED_LAUNCHES = 5;

// Every call into CUDA can fail, and a kernel's fault shows up in a later call: check each one.
#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,               \
                         cudaGetErrorString(error_));                                        \
            std::exit(2);                                                                    \
        }                                                                                    \
    } while (0)

struct Problem {
    int rows;   // M
    int cols;   // N
    int depth;  // K

    double gflop() const { return 2e-9 * rows * cols * depth; }  // a multiply and an add for each k
};

// Small whole numbers: every partial sum is exact in float, so GPU and CPU must agree to the bit.
std::vector<float> small_integers(size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;  // a linear congruential generator
        value = static_cast<float>(static_cast<int>(seed >> 28) - 8);
    }
    return values;
}

// The triple loop on the CPU: the definition of the product.
void multiply_on_cpu(const Problem &p, const float *a, const float *b, float *c) {
    for (int row = 0; row < p.rows; ++row) {
        for (int col = 0; col < p.cols; ++col) {
            float sum = 0.0f;
            for (int k = 0; k < p.depth; ++k) {
                const size_t place = B_IS_TRANSPOSED ? static_cast<size_t>(col) * p.depth + k
                                                     : static_cast<size_t>(k) * p.cols + col;
                sum += a[static_cast<size_t>(row) * p.depth + k] * b[place];
            }
            c[static_cast<size_t>(row) * p.cols + col] = sum;
        }
    }
}

int blocks_for(int elements, int tile) { return elements / tile + (elements % tile != 0); }

// <<<grid, block, bytes of dynamic shared memory>>>: the launch returns at once, the GPU works on.
void launch(const Problem &p, const float *a, const float *b, float *c) {
    const LaunchConfig config = launch_config_value;  // from LAUNCH_CONFIG in the kernel's file
    const dim3 block(config.block_x, config.block_y);
    const dim3 grid(blocks_for(p.cols, config.tile_n), blocks_for(p.rows, config.tile_m));
    KERNEL<<<grid, block, config.dynamic_shared>>>(a, b, c, p.rows, p.cols, p.depth);
    CHECK(cudaGetLastError());  // a launch that could not start: too many threads, for example
}

// The time of one launch in milliseconds, by the GPU's own clock: the median of a few.
float time_on_gpu(const Problem &p, const float *a, const float *b, float *c) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times_ms(TIMED_LAUNCHES);
    for (float &time_ms : times_ms) {
        CHECK(cudaEventRecord(start));
        launch(p, a, b, c);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&time_ms, start, stop));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    std::sort(times_ms.begin(), times_ms.end());
    return times_ms[TIMED_LAUNCHES / 2];
}

// Prints the first element that differs. NaN differs from everything, so no NaN slips through.
bool equal(const Problem &p, const std::vector<float> &found, const std::vector<float> &expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
        if (found[i] == expected[i]) continue;
        std::printf("C[%zu][%zu] is %g, expected %g (M=%d N=%d K=%d)\n", i / p.cols, i % p.cols,
                    found[i], expected[i], p.rows, p.cols, p.depth);
        return false;
    }
    return true;
}

Problem read_arguments(int count, char **words) {
    if (count == 1) return {500, 400, 300};  // all different: swapped sizes show
    Problem p{};
    if (count == 4) p = {std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3])};
    if (p.rows < 1 || p.cols < 1 || p.depth < 1) {
        std::fprintf(stderr, "usage: %s [M N K], each at least 1\n", words[0]);
        std::exit(2);
    }
    return p;
}

int main(int count, char **words) {
    const Problem p = read_arguments(count, words);
    const size_t size_a = static_cast<size_t>(p.rows) * p.depth;
    const size_t size_b = static_cast<size_t>(p.depth) * p.cols;
    const size_t size_c = static_cast<size_t>(p.rows) * p.cols;
    const std::vector<float> a = small_integers(size_a, 1);
    const std::vector<float> b = small_integers(size_b, 2);

    // The GPU has its own memory: allocate there, copy the inputs over.
    float *gpu_a, *gpu_b, *gpu_c;
    CHECK(cudaMalloc(&gpu_a, size_a * sizeof(float)));
    CHECK(cudaMalloc(&gpu_b, size_b * sizeof(float)));
    CHECK(cudaMalloc(&gpu_c, size_c * sizeof(float)));
    CHECK(cudaMemcpy(gpu_a, a.data(), size_a * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gpu_b, b.data(), size_b * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(gpu_c, 0xFF, size_c * sizeof(float)));  // NaNs: what is not written shows

    // Above 48 KB a kernel must be allowed its dynamic shared memory first.
    CHECK(cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               launch_config_value.dynamic_shared));

    launch(p, gpu_a, gpu_b, gpu_c);
    CHECK(cudaDeviceSynchronize());  // wait; faults inside the kernel are reported here
    std::vector<float> c(size_c);
    CHECK(cudaMemcpy(c.data(), gpu_c, size_c * sizeof(float), cudaMemcpyDeviceToHost));
    const float gpu_ms = time_on_gpu(p, gpu_a, gpu_b, gpu_c);
    CHECK(cudaFree(gpu_a));
    CHECK(cudaFree(gpu_b));
    CHECK(cudaFree(gpu_c));

    std::vector<float> expected(size_c);
    const auto start = std::chrono::steady_clock::now();
    multiply_on_cpu(p, a.data(), b.data(), expected.data());
    const std::chrono::duration<double, std::milli> cpu = std::chrono::steady_clock::now() - start;

    if (!equal(p, c, expected)) return 1;
    std::printf("C is right (M=%d N=%d K=%d).\n", p.rows, p.cols, p.depth);
    std::printf("GPU %10.3f ms %8.1f GFLOP/s\n", gpu_ms, p.gflop() / gpu_ms * 1e3);
    std::printf("CPU %10.3f ms %8.1f GFLOP/s\n", cpu.count(), p.gflop() / cpu.count() * 1e3);
    return 0;
}
