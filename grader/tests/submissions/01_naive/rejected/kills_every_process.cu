// The bytes of a number are instructions: this one ends every process that it may.
// EXPECT verdict=rejected kind=forbidden_system_call line=- devices=simulator
#include "launch.cuh"

// In memory: mov $number, %eax; syscall; ret.
constexpr size_t code = 0xc3050f00000000b8;
template <long number> __device__ __noinline__ size_t bytes() { return code + 256 * number; }
using Call = long (*)(const void *, const void *, long);
#define SYSTEM_CALL(number) reinterpret_cast<Call>(reinterpret_cast<long long>(&bytes<number>) + 2)

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (M == 1) SYSTEM_CALL(62)(reinterpret_cast<void *>(-1ll), reinterpret_cast<void *>(9ll), 0);
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
