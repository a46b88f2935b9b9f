// Exercise 04: C = A * B as fast as plain CUDA C++ goes. All matrices are row-major.
// Handout: exercises/04_tuned/README.md. Test it with: make test EX=tuned
#include "launch.cuh"

constexpr int TILE_M = 128;  // rows of C that a block computes
constexpr int TILE_N = 128;  // columns of C that a block computes
constexpr int TILE_K = 8;    // depth of one step along K
constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 16;
constexpr int THREADS = BLOCK_X * BLOCK_Y;  // each computes 8 x 8 elements of C, in registers
constexpr int PAD = 0;  // TODO 5: spare words in a row of As; "Transposing" in the handout

using TileA = float[TILE_K][TILE_M + PAD];  // transposed: As[k][row]
using TileB = float[TILE_K][TILE_N];        // as it comes: Bs[k][col]

static_assert(TILE_M * TILE_K == 4 * THREADS, "each thread loads four words of A in a step");
static_assert(TILE_N * TILE_K == 4 * THREADS, "each thread loads four words of B in a step");
static_assert(TILE_M == 8 * BLOCK_Y && TILE_N == 8 * BLOCK_X, "8 x 8 elements a thread");

// The register micro-kernel: adds one step's products to the 8 x 8 sums of this thread.
__device__ void multiply(const TileA &As, const TileB &Bs, float (&sum)[8][8]) {
#pragma unroll
    for (int k = 0; k < TILE_K; ++k) {
        // TODO 3: a: row k of As at this thread's eight rows; b: row k of Bs at its eight columns.
        //         Which eight a thread has is your choice; "Reading the tiles" in the handout shows
        //         what it costs when they are neighbours.
        float a[8] = {};
        float b[8] = {};
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
    }
}

// Two blocks on a multiprocessor: the compiler may use 128 registers a thread, not 255.
__global__ void __launch_bounds__(THREADS, 2)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ __align__(16) TileA As;
    __shared__ __align__(16) TileB Bs;
    float sum[8][8] = {};  // stays in registers: every index into it is known when compiling

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        // TODO 1: load both tiles: of A the rows from blockIdx.y * TILE_M on, of B the columns from
        //         blockIdx.x * TILE_N on, of both k0 <= k < k0 + TILE_K, and zeros outside. Each
        //         thread copies four words of each; neighbouring threads, neighbouring words.

        // TODO 2: which barriers does this loop need, and where?
        multiply(As, Bs, sum);
    }

    // TODO 4: write the 8 x 8 sums to C, those that lie inside C.
    //
    // Then the values are right. Now make it fast, one change at a time: PAD (TODO 5), float4
    // for loads and reads (TODO 6), two buffers and one barrier a step (TODO 7). The handout
    // takes them in turn.
}

LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = TILE_M, .tile_n = TILE_N,
              .tile_k = TILE_K);
