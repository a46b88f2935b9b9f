// Exercise 03: C = A * B^T with tiles in shared memory and no bank conflicts.
// A is M x K, B is N x K, C is M x N, all row-major: C[row][col] sums A[row][k] * B[col][k] over k.
//STARTER // Handout: exercises/03_padded/README.md. Test it with: make test EX=padded
#include "launch.cuh"

constexpr int TILE = 32;  // a block of TILE x TILE threads computes a TILE x TILE tile of C

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    // BEGIN SOLUTION
    //STARTER // TODO 2: once TODO 1 gives right values, count banks. In the inner loop, which words does
    //STARTER //         one warp read from each tile, and in which banks do they lie? Change the layout
    //STARTER //         of the tile that makes its warp wait.
    //STARTER __shared__ float As[TILE][TILE];
    //STARTER __shared__ float Bs[TILE][TILE];
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE + 1];  // one spare word: a column lies in 32 banks
    // END SOLUTION

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    int row_of_b = blockIdx.x * TILE + ty;  // loading only; the sum of this thread needs row `col`
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        // Both tiles are kept as they lie in memory, so both loads are coalesced along k.
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = row_of_b < N && k0 + tx < K ? B[row_of_b * K + k0 + tx] : 0.0f;
        __syncthreads();

        // BEGIN SOLUTION
        //STARTER // TODO 1: add to `sum` the products of row `row` of A and row `col` of B, as far as they
        //STARTER //         lie in this step's tiles.
        for (int k = 0; k < TILE; ++k) {
            sum += As[ty][k] * Bs[tx][k];
        }
        // END SOLUTION
        __syncthreads();
    }

    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
