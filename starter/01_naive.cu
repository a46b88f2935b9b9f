// Exercise 01: C = A * B, one thread for one element of C. All matrices are row-major.
// Handout: exercises/01_naive/README.md. Test it with: make test EX=naive
#include "launch.cuh"

constexpr int BLOCK_X = 32;  // threads of a block along x, one row of 32: a warp
constexpr int BLOCK_Y = 8;   // threads of a block along y

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    // TODO 1: `row` and `col`: which element of C is this thread's? Compute them from blockIdx,
    //         blockDim and threadIdx. Threads next to each other differ in threadIdx.x: give
    //         them neighbouring columns.

    // TODO 2: the grid is made of whole blocks, so the last ones reach past the edge of C. A
    //         thread without an element reads nothing and writes nothing.

    // TODO 3: add up A[row][k] * B[k][col] for every k from 0 to K - 1, in a register. A row of A
    //         has K elements, a row of B has N: which index is A[row][k]? Which is B[k][col]?

    // TODO 4: write the sum to C[row][col], once.
}

// The grader launches ceil(N / tile_n) x ceil(M / tile_m) blocks. One thread computes one element
// here, so a block's tile of C has one row for each y and one column for each x.
LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = BLOCK_Y, .tile_n = BLOCK_X);
