// Exercise 02: C = A * B with tiles in shared memory. All matrices are row-major.
//STARTER // Handout: exercises/02_tiled/README.md. Test it with: make test EX=tiled
#include "launch.cuh"

constexpr int TILE = 32;  // a block of TILE x TILE threads computes a TILE x TILE tile of C

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    // BEGIN SOLUTION
    //STARTER // TODO 1: declare As and Bs: two tiles of TILE x TILE floats that the whole block shares.
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    // END SOLUTION

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        // BEGIN SOLUTION
        //STARTER // TODO 2: load. Thread (tx, ty) copies one element of A into As[ty][tx] and one element of
        //STARTER //         B into Bs[ty][tx]. This step needs columns k0 ... k0 + TILE - 1 of A and the same
        //STARTER //         rows of B. What belongs into the tile where it reaches past the edge of A or B?
        //STARTER
        //STARTER // TODO 3: the next lines read what other threads have loaded. What must happen first?
        //STARTER
        //STARTER // TODO 4: add to `sum` the products of row ty of As and column tx of Bs.
        //STARTER
        //STARTER // TODO 5: the next step overwrites both tiles. What must happen first?
        // Past the edge of A or B the tile holds zeros: they add nothing to any sum.
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();  // the tiles are complete

        for (int k = 0; k < TILE; ++k) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();  // nobody reads them any more
        // END SOLUTION
    }

    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
