// The contract of a submission: the kernels' signatures and the launch configuration.
// No name here can collide with a student's macro A, B, C, M, N, K, T or TILE.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

extern "C" {
__global__ void matmul_warmup(const float *, const float *, float *, int, int, int);
__global__ void matmul_naive(const float *, const float *, float *, int, int, int);
__global__ void matmul_tiled(const float *, const float *, float *, int, int, int);
__global__ void matmul_padded(const float *, const float *, float *, int, int, int);
__global__ void matmul_tuned(const float *, const float *, float *, int, int, int);
}

struct LaunchConfig {
    int block_x;             // threads of a block along x
    int block_y;             // threads of a block along y
    int tile_m;              // rows of C that one block computes
    int tile_n;              // columns of C that one block computes
    int tile_k = 1;          // depth of one step along K
    int dynamic_shared = 0;  // bytes of dynamic shared memory
};

// nvcc as C++17 gives a member that is skipped between two named ones 0, not its default: hence the
// question about tile_k.
// LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16, .tile_k = 16);
#define LAUNCH_CONFIG(...)                                          \
    static constexpr LaunchConfig launch_config_value{__VA_ARGS__}; \
    extern "C" {                                                    \
    __device__ LaunchConfig launch_config = {                       \
        launch_config_value.block_x,                                \
        launch_config_value.block_y,                                \
        launch_config_value.tile_m,                                 \
        launch_config_value.tile_n,                                 \
        launch_config_value.tile_k ? launch_config_value.tile_k : 1, \
        launch_config_value.dynamic_shared};                        \
    }                                                               \
    static_assert(true, "so that the macro ends with a semicolon")
