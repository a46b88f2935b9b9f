// Exercise 04: C = A * B as fast as plain CUDA C++ goes. All matrices are row-major.
//STARTER // Handout: exercises/04_tuned/README.md. Test it with: make test EX=tuned
#include "launch.cuh"

constexpr int TILE_M = 128;  // rows of C that a block computes
constexpr int TILE_N = 128;  // columns of C that a block computes
// BEGIN SOLUTION
//STARTER constexpr int TILE_K = 8;    // depth of one step along K
//STARTER constexpr int BLOCK_X = 16;
//STARTER constexpr int BLOCK_Y = 16;
//STARTER constexpr int THREADS = BLOCK_X * BLOCK_Y;  // each computes 8 x 8 elements of C, in registers
//STARTER constexpr int PAD = 0;  // TODO 5: spare words in a row of As; "Transposing" in the handout
constexpr int TILE_K = 16;   // depth of one step along K
constexpr int WARP_M = 64;   // rows of C that a warp computes: the block has 2 x 2 warp tiles
constexpr int WARP_N = 64;   // columns of C that a warp computes
constexpr int ROWS = 8;      // rows of C that a thread computes: a warp has 8 x 4 threads
constexpr int COLS = 16;     // columns of C that a thread computes
constexpr int THREADS = 32 * (TILE_M / WARP_M) * (TILE_N / WARP_N);
// Spare words in a row of As. The transposing stores then meet in two banks at most, and every row
// still starts on a 16-byte boundary.
constexpr int PAD = 4;
// END SOLUTION

using TileA = float[TILE_K][TILE_M + PAD];  // transposed: As[k][row]
using TileB = float[TILE_K][TILE_N];        // as it comes: Bs[k][col]

// BEGIN SOLUTION
//STARTER static_assert(TILE_M * TILE_K == 4 * THREADS, "each thread loads four words of A in a step");
//STARTER static_assert(TILE_N * TILE_K == 4 * THREADS, "each thread loads four words of B in a step");
//STARTER static_assert(TILE_M == 8 * BLOCK_Y && TILE_N == 8 * BLOCK_X, "8 x 8 elements a thread");
//STARTER
//STARTER // The register micro-kernel: adds one step's products to the 8 x 8 sums of this thread.
//STARTER __device__ void multiply(const TileA &As, const TileB &Bs, float (&sum)[8][8]) {
//STARTER #pragma unroll
//STARTER     for (int k = 0; k < TILE_K; ++k) {
//STARTER         // TODO 3: a: row k of As at this thread's eight rows; b: row k of Bs at its eight columns.
//STARTER         //         Which eight a thread has is your choice; "Reading the tiles" in the handout shows
//STARTER         //         what it costs when they are neighbours.
//STARTER         float a[8] = {};
//STARTER         float b[8] = {};
//STARTER #pragma unroll
//STARTER         for (int i = 0; i < 8; ++i) {
//STARTER #pragma unroll
//STARTER             for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
//STARTER         }
//STARTER     }
//STARTER }
//STARTER
//STARTER // Two blocks on a multiprocessor: the compiler may use 128 registers a thread, not 255.
//STARTER __global__ void __launch_bounds__(THREADS, 2)
//STARTER matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
//STARTER     __shared__ __align__(16) TileA As;
//STARTER     __shared__ __align__(16) TileB Bs;
//STARTER     float sum[8][8] = {};  // stays in registers: every index into it is known when compiling
//STARTER
//STARTER     for (int k0 = 0; k0 < K; k0 += TILE_K) {
//STARTER         // TODO 1: load both tiles: of A the rows from blockIdx.y * TILE_M on, of B the columns from
//STARTER         //         blockIdx.x * TILE_N on, of both k0 <= k < k0 + TILE_K, and zeros outside. Each
//STARTER         //         thread copies four words of each; neighbouring threads, neighbouring words.
//STARTER
//STARTER         // TODO 2: which barriers does this loop need, and where?
//STARTER         multiply(As, Bs, sum);
//STARTER     }
//STARTER
//STARTER     // TODO 4: write the 8 x 8 sums to C, those that lie inside C.
//STARTER     //
//STARTER     // Then the values are right. Now make it fast, one change at a time: PAD (TODO 5), float4
//STARTER     // for loads and reads (TODO 6), two buffers and one barrier a step (TODO 7). The handout
//STARTER     // takes them in turn.
//STARTER }
constexpr int WORDS = TILE_M * TILE_K / THREADS;  // that a thread loads of A's tile, and of B's
static_assert(TILE_M == TILE_N, "each thread loads as many words of A as of B");
static_assert(WARP_M == 8 * ROWS && WARP_N == 4 * COLS, "a warp has 8 x 4 threads");

__device__ float4 read4(const float *place) { return *reinterpret_cast<const float4 *>(place); }

__device__ void write4(float *place, float4 words) { *reinterpret_cast<float4 *>(place) = words; }

// Loading is split in two, so that the arithmetic of one step runs while the words of the next are
// on their way: load_* starts the reads into registers, store_* puts them into shared memory.
//
// WIDTH is the number of words in one access. If K and N are multiples of 4, it is 4: every row
// starts on a 16-byte boundary then, and four words from a multiple of 4 lie inside the row or
// outside, never half. Otherwise it is 1. Neighbouring threads read neighbouring words: THREADS
// accesses fill THREADS / PER_ROW rows of a tile, and i counts these groups of rows.
//
// A thread whose word lies outside reads the nearest one inside, which costs no branch. Rows past M
// and columns past N only reach sums that are not written; what lies past K is cleared.
template <int WIDTH>
__device__ void read_words(const float *place, float *words) {
    if (WIDTH == 4) {
        const float4 v = read4(place);
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    } else {
        words[0] = *place;
    }
}

template <int WIDTH>
__device__ void load_a(const float *A, int M, int K, int row0, int k0, float (&words)[WORDS]) {
    constexpr int PER_ROW = TILE_K / WIDTH;
    const int thread = threadIdx.x;
    const int k = min(k0 + thread % PER_ROW * WIDTH, K - WIDTH);
#pragma unroll
    for (int i = 0; i < WORDS / WIDTH; ++i) {
        const int row = min(row0 + thread / PER_ROW + i * (THREADS / PER_ROW), M - 1);
        read_words<WIDTH>(&A[row * K + k], &words[i * WIDTH]);
    }
}

template <int WIDTH>
__device__ void load_b(const float *B, int N, int K, int col0, int k0, float (&words)[WORDS]) {
    constexpr int PER_ROW = TILE_N / WIDTH;
    const int thread = threadIdx.x;
    const int col = min(col0 + thread % PER_ROW * WIDTH, N - WIDTH);
#pragma unroll
    for (int i = 0; i < WORDS / WIDTH; ++i) {
        const int k = min(k0 + thread / PER_ROW + i * (THREADS / PER_ROW), K - 1);
        read_words<WIDTH>(&B[k * N + col], &words[i * WIDTH]);
    }
}

// Only the last step needs this: `depth` of the TILE_K columns of A and rows of B exist.
template <int WIDTH>
__device__ void clear_past_end(int depth, float (&words_a)[WORDS], float (&words_b)[WORDS]) {
    constexpr int A_PER_ROW = TILE_K / WIDTH;
    constexpr int B_PER_ROW = TILE_N / WIDTH;
    const int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        if (thread % A_PER_ROW * WIDTH >= depth) words_a[i] = 0.0f;
        const int k = thread / B_PER_ROW + i / WIDTH * (THREADS / B_PER_ROW);
        if (k >= depth) words_b[i] = 0.0f;
    }
}

template <int WIDTH>
__device__ void store_a(TileA &As, const float (&words)[WORDS]) {
    constexpr int PER_ROW = TILE_K / WIDTH;
    const int k = threadIdx.x % PER_ROW * WIDTH;
    const int row = threadIdx.x / PER_ROW;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        As[k + i % WIDTH][row + i / WIDTH * (THREADS / PER_ROW)] = words[i];
    }
}

template <int WIDTH>
__device__ void store_b(TileB &Bs, const float (&words)[WORDS]) {
    constexpr int PER_ROW = TILE_N / WIDTH;
    const int k = threadIdx.x / PER_ROW;
    const int col = threadIdx.x % PER_ROW * WIDTH;
#pragma unroll
    for (int i = 0; i < WORDS; i += WIDTH) {
        float *place = &Bs[k + i / WIDTH * (THREADS / PER_ROW)][col];
        if (WIDTH == 4) {
            write4(place, make_float4(words[i], words[i + 1], words[i + 2], words[i + 3]));
        } else {
            *place = words[i];
        }
    }
}

// What a thread needs for one k: of As rows 0 ... 3 and 32 ... 35 from its first one, of Bs columns
// 0 ... 3, 16 ... 19, 32 ... 35 and 48 ... 51. So the threads of a warp read float4s next to each
// other, and all banks are busy.
struct Fragment {
    float4 a[ROWS / 4];
    float4 b[COLS / 4];
};

__device__ void read_fragment(const float *a, const float *b, Fragment &fragment) {
#pragma unroll
    for (int i = 0; i < ROWS / 4; ++i) fragment.a[i] = read4(a + i * (WARP_M / 2));
#pragma unroll
    for (int j = 0; j < COLS / 4; ++j) fragment.b[j] = read4(b + j * (WARP_N / 4));
}

__device__ float word(const float4 &words, int i) {
    return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// A multiply-add reads three registers. In a cycle the register file delivers two, one from each of
// its banks, the even and the odd numbers; the third must be one that the multiply-add before has
// used, too. So the columns run to and fro: a stays the same along a row, and where the row ends b
// does.
__device__ void multiply(const Fragment &fragment, float (&sum)[ROWS][COLS]) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const float a = word(fragment.a[i / 4], i % 4);
#pragma unroll
        for (int step = 0; step < COLS; ++step) {
            const int j = i % 2 == 0 ? step : COLS - 1 - step;
            sum[i][j] += a * word(fragment.b[j / 4], j % 4);
        }
    }
}

// The sums are written four at a time, from four registers in a row, and b is read in the same way:
// sum[i][j] and b[j] would both have even numbers or both odd ones. Adding zero makes a copy to be
// written. The sum itself may then lie anywhere, and the compiler puts it into the other bank.
template <int WIDTH>
__device__ void write_c(float *C, int M, int N, int row0, int col0,
                        const float (&sum)[ROWS][COLS]) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = row0 + i % 4 + i / 4 * (WARP_M / 2);
#pragma unroll
        for (int j = 0; j < COLS; j += WIDTH) {
            const int col = col0 + j % 4 + j / 4 * (WARP_N / 4);
            if (row >= M || col >= N) continue;
            if (WIDTH == 4) {
                write4(&C[row * N + col], make_float4(sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f,
                                                      sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f));
            } else {
                C[row * N + col] = sum[i][j];
            }
        }
    }
}

template <int WIDTH>
__device__ void compute_tile(TileA (&As)[2], TileB (&Bs)[2], const float *A, const float *B,
                             float *C, int M, int N, int K) {
    const int row0 = blockIdx.y * TILE_M;
    const int col0 = blockIdx.x * TILE_N;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * WARP_M + lane / 4 * 4;  // this thread's first row and column of the
    const int col = warp % 2 * WARP_N + lane % 4 * 4;  // tile; see Fragment for the others
    float words_a[WORDS];
    float words_b[WORDS];
    Fragment fragment[2];
    float sum[ROWS][COLS] = {};  // stays in registers: every index into it is known when compiling

    load_a<WIDTH>(A, M, K, row0, 0, words_a);
    load_b<WIDTH>(B, N, K, col0, 0, words_b);
    if (K < TILE_K) clear_past_end<WIDTH>(K, words_a, words_b);
    store_a<WIDTH>(As[0], words_a);
    store_b<WIDTH>(Bs[0], words_b);

    int now = 0;
#pragma unroll 1
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        // One barrier a step is enough: what is overwritten below was last read before this one.
        __syncthreads();
        const float *a = &As[now][0][row];
        const float *b = &Bs[now][0][col];
        read_fragment(a, b, fragment[0]);

        const int left = K - k0 - TILE_K;  // depth of the steps after this one
        if (left > 0) {
            load_a<WIDTH>(A, M, K, row0, k0 + TILE_K, words_a);
            load_b<WIDTH>(B, N, K, col0, k0 + TILE_K, words_b);
        }

        // While one fragment is multiplied, the next is read. The loop must stay a loop: in a long
        // unrolled body the compiler moves the sums from register to register, without regard to
        // the banks.
#pragma unroll 1
        for (int k = 0; k < TILE_K; k += 2) {
            read_fragment(a + TILE_M + PAD, b + TILE_N, fragment[1]);
            multiply(fragment[0], sum);
            a += 2 * (TILE_M + PAD);
            b += 2 * TILE_N;
            if (k + 2 < TILE_K) read_fragment(a, b, fragment[0]);
            multiply(fragment[1], sum);
        }

        now = 1 - now;
        if (left > 0) {
            if (left < TILE_K) clear_past_end<WIDTH>(left, words_a, words_b);
            store_a<WIDTH>(As[now], words_a);
            store_b<WIDTH>(Bs[now], words_b);
        }
    }
    write_c<WIDTH>(C, M, N, row0 + row, col0 + col, sum);
}

// Two blocks on a multiprocessor, so that one multiplies while the other waits at its barrier. With
// 128 threads a block, each thread may still have 255 registers, the most there are.
__global__ void __launch_bounds__(THREADS, 2)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    // Two of each: while one is multiplied, the other is filled.
    __shared__ __align__(16) TileA As[2];
    __shared__ __align__(16) TileB Bs[2];
    if (K % 4 == 0 && N % 4 == 0) {
        compute_tile<4>(As, Bs, A, B, C, M, N, K);
    } else {
        compute_tile<1>(As, Bs, A, B, C, M, N, K);
    }
}
// END SOLUTION

// BEGIN SOLUTION
//STARTER LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = TILE_M, .tile_n = TILE_N,
//STARTER               .tile_k = TILE_K);
LAUNCH_CONFIG(.block_x = THREADS, .block_y = 1, .tile_m = TILE_M, .tile_n = TILE_N,
              .tile_k = TILE_K);
// END SOLUTION
