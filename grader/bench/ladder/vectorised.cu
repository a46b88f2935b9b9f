// float4 wherever four words lie next to each other; else as no_conflicts.cu.
#include "launch.cuh"

constexpr int TILE_M = 128;  // rows of C that a block computes
constexpr int TILE_N = 128;  // columns of C that a block computes
constexpr int TILE_K = 8;    // depth of one step along K
constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 16;
constexpr int THREADS = BLOCK_X * BLOCK_Y;  // each computes 8 x 8 elements of C, in registers
// Spare words in a row of As. The transposing stores then hit 32 different banks, and every row
// still starts on a 16-byte boundary.
constexpr int PAD = 4;

using TileA = float[TILE_K][TILE_M + PAD];  // transposed: As[k][row]
using TileB = float[TILE_K][TILE_N];        // as it comes: Bs[k][col]

static_assert(TILE_M * TILE_K == 4 * THREADS, "each thread loads four words of A in a step");
static_assert(TILE_N * TILE_K == 4 * THREADS, "each thread loads four words of B in a step");
static_assert(TILE_M == 8 * BLOCK_Y && TILE_N == 8 * BLOCK_X, "8 x 8 elements a thread");

__device__ float4 read4(const float *place) { return *reinterpret_cast<const float4 *>(place); }

__device__ void write4(float *place, const float *words) {
    *reinterpret_cast<float4 *>(place) = make_float4(words[0], words[1], words[2], words[3]);
}

// If K is a multiple of 4, every row of A starts on a 16-byte boundary and a float4 lies inside A
// or outside it, never half. For other K the same words are read one by one, neighbouring lanes
// next to each other along k. The same holds for B and N. Words outside are 0 and add nothing.

__device__ void load_a(const float *A, int M, int K, int row0, int k0, float (&words)[4]) {
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    if (K % 4 == 0) {
        const int row = row0 + thread / 2;
        const int k = thread % 2 * 4;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row < M && k < K - k0) v = read4(&A[row * K + k0 + k]);
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    } else {
        const int k = thread % 8;
        for (int i = 0; i < 4; ++i) {
            const int row = row0 + thread / 8 + i * 32;
            words[i] = row < M && k < K - k0 ? A[row * K + k0 + k] : 0.0f;
        }
    }
}

__device__ void store_a(TileA &As, int K, const float (&words)[4]) {
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        if (K % 4 == 0) {
            As[thread % 2 * 4 + i][thread / 2] = words[i];
        } else {
            As[thread % 8][thread / 8 + i * 32] = words[i];
        }
    }
}

__device__ void load_b(const float *B, int N, int K, int col0, int k0, float (&words)[4]) {
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    if (N % 4 == 0) {
        const int k = thread / 32;
        const int col = col0 + thread % 32 * 4;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (k < K - k0 && col < N) v = read4(&B[(k0 + k) * N + col]);
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    } else {
        const int col = col0 + thread % 128;
        for (int i = 0; i < 4; ++i) {
            const int k = thread / 128 + i * 2;
            words[i] = k < K - k0 && col < N ? B[(k0 + k) * N + col] : 0.0f;
        }
    }
}

__device__ void store_b(TileB &Bs, int N, const float (&words)[4]) {
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    if (N % 4 == 0) {
        write4(&Bs[thread / 32][thread % 32 * 4], words);
    } else {
        for (int i = 0; i < 4; ++i) Bs[thread / 128 + i * 2][thread % 128] = words[i];
    }
}

// The register micro-kernel: adds one step's products to the 8 x 8 sums of this thread.
__device__ void multiply(const TileA &As, const TileB &Bs, float (&sum)[8][8]) {
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE_K; ++k) {
        // Columns tx * 4 to tx * 4 + 3, and the same 64 further on: lanes next to each other read
        // float4s next to each other. With eight columns in a row half of the banks would idle.
        const float4 a_low = read4(&As[k][ty * 4]);
        const float4 a_high = read4(&As[k][ty * 4 + 64]);
        const float4 b_low = read4(&Bs[k][tx * 4]);
        const float4 b_high = read4(&Bs[k][tx * 4 + 64]);
        const float a[8] = {a_low.x,  a_low.y,  a_low.z,  a_low.w,
                            a_high.x, a_high.y, a_high.z, a_high.w};
        const float b[8] = {b_low.x,  b_low.y,  b_low.z,  b_low.w,
                            b_high.x, b_high.y, b_high.z, b_high.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
        }
    }
}

__device__ void write_c(float *C, int M, int N, int row0, int col0, const float (&sum)[8][8]) {
    for (int i = 0; i < 8; ++i) {
        const int row = row0 + threadIdx.y * 4 + i % 4 + i / 4 * 64;
        for (int j = 0; j < 8; j += 4) {
            const int col = col0 + threadIdx.x * 4 + j / 4 * 64;
            if (N % 4 == 0) {
                if (row < M && col < N) write4(&C[row * N + col], &sum[i][j]);
            } else {
                for (int e = 0; e < 4; ++e) {
                    if (row < M && col + e < N) C[row * N + col + e] = sum[i][j + e];
                }
            }
        }
    }
}

// Two blocks on a multiprocessor: the compiler may use 128 registers a thread, not 255.
__global__ void __launch_bounds__(THREADS, 2)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ __align__(16) TileA As;
    __shared__ __align__(16) TileB Bs;
    float sum[8][8] = {};  // stays in registers: every index into it is known when compiling
    const int row0 = blockIdx.y * TILE_M;
    const int col0 = blockIdx.x * TILE_N;

    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        float words_a[4];
        float words_b[4];
        load_a(A, M, K, row0, k0, words_a);
        load_b(B, N, K, col0, k0, words_b);
        store_a(As, K, words_a);
        store_b(Bs, N, words_b);
        __syncthreads();  // the tiles are complete
        multiply(As, Bs, sum);
        __syncthreads();  // nobody reads them any more
    }
    write_c(C, M, N, row0, col0, sum);
}

LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = TILE_M, .tile_n = TILE_N,
              .tile_k = TILE_K);
