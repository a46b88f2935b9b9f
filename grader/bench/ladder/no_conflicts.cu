// No bank conflicts: As is padded, and a thread's rows and columns are split. Else as
// register_tile.cu.
#include "launch.cuh"

constexpr int TILE_M = 128;  // rows of C that a block computes
constexpr int TILE_N = 128;  // columns of C that a block computes
constexpr int TILE_K = 8;    // depth of one step along K
constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 16;
constexpr int THREADS = BLOCK_X * BLOCK_Y;  // each computes 8 x 8 elements of C, in registers
constexpr int PAD = 4;  // spare words in a row of As: the transposing stores hit 32 different banks

// The i-th of a thread's eight rows, or of its columns, in the tile: four and, 64 further on, four.
// Neighbouring threads then read neighbouring groups of four words.
__device__ int place(int thread, int i) { return thread * 4 + i % 4 + i / 4 * 64; }

// Two blocks on a multiprocessor: the compiler may use 128 registers a thread, not 255.
__global__ void __launch_bounds__(THREADS, 2)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE_K][TILE_M + PAD];  // transposed: As[k][row]
    __shared__ float Bs[TILE_K][TILE_N];
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const int row0 = blockIdx.y * TILE_M;
    const int col0 = blockIdx.x * TILE_N;
    float sum[8][8] = {};  // stays in registers: every index into it is known when compiling

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int e = thread; e < TILE_M * TILE_K; e += THREADS) {
            const int row = e / TILE_K;
            const int k = e % TILE_K;
            As[k][row] = row0 + row < M && k0 + k < K ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        for (int e = thread; e < TILE_N * TILE_K; e += THREADS) {
            const int k = e / TILE_N;
            const int col = e % TILE_N;
            Bs[k][col] = k0 + k < K && col0 + col < N ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();  // the tiles are complete

#pragma unroll
        for (int k = 0; k < TILE_K; ++k) {
            float a[8];
            float b[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) a[i] = As[k][place(threadIdx.y, i)];
#pragma unroll
            for (int j = 0; j < 8; ++j) b[j] = Bs[k][place(threadIdx.x, j)];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();  // nobody reads them any more
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int row = row0 + place(threadIdx.y, i);
            const int col = col0 + place(threadIdx.x, j);
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = TILE_M, .tile_n = TILE_N,
              .tile_k = TILE_K);
