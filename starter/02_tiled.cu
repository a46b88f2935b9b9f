// Exercise 02: C = A * B with tiles in shared memory. All matrices are row-major.
// Handout: exercises/02_tiled/README.md. Test it with: make test EX=tiled
#include "launch.cuh"

constexpr int TILE = 32;  // a block of TILE x TILE threads computes a TILE x TILE tile of C

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    // TODO 1: declare As and Bs: two tiles of TILE x TILE floats that the whole block shares.

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        // TODO 2: load. Thread (tx, ty) copies one element of A into As[ty][tx] and one element of
        //         B into Bs[ty][tx]. This step needs columns k0 ... k0 + TILE - 1 of A and the same
        //         rows of B. What belongs into the tile where it reaches past the edge of A or B?

        // TODO 3: the next lines read what other threads have loaded. What must happen first?

        // TODO 4: add to `sum` the products of row ty of As and column tx of Bs.

        // TODO 5: the next step overwrites both tiles. What must happen first?
    }

    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
