// Checks a whole product C = A * B without computing another one (Freivalds): with a random vector
// x, row i of C * x must be row i of A * (B * x).
//
// Everything is an integer and counted modulo 2^64, so the comparison is exact. A wrong element is
// off by less than 2^26 and its weight is one of 2^24 numbers: one of them at most hides it. A and B
// are derived anew; what memory holds is only compared with that.
#include "contents.cuh"

// A correct element is below 2^24; what is not below this is refused without looking further.
static constexpr float LIMIT = 1 << 25;

static __device__ inline void add(Word64 *place, Word64 value) {
    if (value != 0) atomicAdd(place, value);
}

// weights += B * x for B stored K x N.
extern "C" __global__ void weigh_rows(
    const float *B, Word64 *weights, Word64 *changed, unsigned rows, unsigned cols, Word64 key,
    Word64 coins, int heads, int tails, Word64 lot) {
    Word64 differing = 0;
    FOR_OWN_ROWS(row, rows) {
        Word64 sum = 0;
        FOR_OWN_COLS(col, cols) {
            Word64 index = (Word64)row * cols + col;
            int value = element(key, coins, heads, tails, row, index);
            differing += B[index] != (float)value;
            sum += (Word64)(long long)value * weight(lot, col);
        }
        add(&weights[row], sum);
    }
    add(changed, differing);
}

// weights += B * x for B stored N x K.
extern "C" __global__ void weigh_columns(
    const float *B, Word64 *weights, Word64 *changed, unsigned rows, unsigned cols, Word64 key,
    Word64 coins, int heads, int tails, Word64 lot) {
    Word64 differing = 0;
    FOR_OWN_COLS(col, cols) {
        Word64 sum = 0;
        FOR_OWN_ROWS(row, rows) {
            Word64 index = (Word64)row * cols + col;
            int value = element(key, coins, heads, tails, col, index);
            differing += B[index] != (float)value;
            sum += (Word64)(long long)value * weight(lot, row);
        }
        add(&weights[col], sum);
    }
    add(changed, differing);
}

// sums -= A * weights
extern "C" __global__ void subtract_expected(
    const float *A, const Word64 *weights, Word64 *sums, Word64 *changed, unsigned rows,
    unsigned cols, Word64 key, Word64 coins, int heads, int tails) {
    Word64 differing = 0;
    FOR_OWN_ROWS(row, rows) {
        Word64 sum = 0;
        FOR_OWN_COLS(col, cols) {
            Word64 index = (Word64)row * cols + col;
            int value = element(key, coins, heads, tails, col, index);
            differing += A[index] != (float)value;
            sum += (Word64)(long long)value * weights[col];
        }
        add(&sums[row], 0 - sum);
    }
    add(changed, differing);
}

// sums += C * x; elements that no right answer has are counted in `refused`.
extern "C" __global__ void add_results(
    const float *C, Word64 *sums, Word64 *refused, unsigned rows, unsigned cols, Word64 lot) {
    FOR_OWN_ROWS(row, rows) {
        Word64 sum = 0, bad = 0;
        FOR_OWN_COLS(col, cols) {
            float value = C[(Word64)row * cols + col];
            bool inside = value > -LIMIT && value < LIMIT;  // not for NaN
            int whole = inside ? (int)value : 0;
            bad += !inside || (float)whole != value;
            sum += (Word64)(long long)whole * weight(lot, col);
        }
        add(&sums[row], sum);
        add(&refused[row], bad);
    }
}

// findings[0]: wrong rows; findings[1], all ones before: the first of them.
extern "C" __global__ void count_rows(
    const Word64 *sums, const Word64 *refused, Word64 *findings, unsigned rows) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || (sums[row] == 0 && refused[row] == 0)) return;
    atomicAdd(&findings[0], 1ull);
    atomicMin(&findings[1], (Word64)row);
}

// Guard words that a launch has changed.
extern "C" __global__ void count_changed(
    const unsigned *guard, Word64 *changed, unsigned words, unsigned expected) {
    unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
    if (word < words && guard[word] != expected) atomicAdd(changed, 1ull);
}
