// Only a helper and a launch configuration; the kernel is still to be written.
// EXPECT verdict=missing_kernel kind=missing_kernel line=- devices=simulator,gpu
#include "launch.cuh"

__device__ int flat(int row, int col, int ld) { return row * ld + col; }

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
