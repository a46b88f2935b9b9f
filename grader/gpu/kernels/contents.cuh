// What A and B hold in one timed launch, and how their elements are dealt to threads.
//
// Each word depends on a key and on its place alone, so that any thread can derive it again: to
// fill a matrix, and to check after the launch that it still holds what it did.

typedef unsigned long long Word64;

// The finaliser of SplitMix64: each bit of the result depends on each bit of `x`.
static __device__ inline Word64 mix(Word64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Number `index` of the stream that belongs to `key`.
static __device__ inline Word64 draw(Word64 key, Word64 index) {
    return mix(key + (index + 1) * 0x9E3779B97F4A7C15ull);
}

// An integer in [-reach, reach]. `reach` is `heads` or `tails`, as the coin of this k fell: where a
// column of A is wide, the row of B that it meets is narrow, and the other way round.
static __device__ inline int element(Word64 key, Word64 coins, int heads, int tails,
                                     unsigned k, Word64 index) {
    int reach = draw(coins, k) & 1 ? heads : tails;
    Word64 high = draw(key, index) >> 32;
    return (int)(high * (2 * reach + 1) >> 32) - reach;
}

// The weight of column `j` of C: an integer in [0, 2^24).
static __device__ inline Word64 weight(Word64 lot, unsigned j) { return draw(lot, j) >> 40; }

// A warp takes 32 neighbouring elements of a row, whatever the kernel does: coalesced. Unsigned, so
// that the last step past 2^31 - 1 rows does not overflow.
#define FOR_OWN_ROWS(row, rows)                                           \
    for (unsigned row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; \
         row += gridDim.y * blockDim.y)
#define FOR_OWN_COLS(col, cols)                                           \
    for (unsigned col = blockIdx.x * blockDim.x + threadIdx.x; col < cols; \
         col += gridDim.x * blockDim.x)
