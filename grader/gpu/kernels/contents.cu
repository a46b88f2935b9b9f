// Fills A or B before a timed launch.
#include "contents.cuh"

// `k_is_row`: whether the row is the dimension that the product sums over (B stored K x N).
extern "C" __global__ void fill_matrix(
    float *matrix, unsigned rows, unsigned cols, Word64 key, Word64 coins, int heads, int tails,
    int k_is_row) {
    FOR_OWN_ROWS(row, rows)
    FOR_OWN_COLS(col, cols) {
        Word64 index = (Word64)row * cols + col;
        matrix[index] = element(key, coins, heads, tails, k_is_row ? row : col, index);
    }
}
