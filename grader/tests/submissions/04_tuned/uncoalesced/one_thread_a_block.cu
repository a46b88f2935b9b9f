// A block is a single thread, which computes its 32 x 32 outputs in registers.
// EXPECT verdict=uncoalesced kind=few_lanes line=marked devices=simulator
// EXPECT verdict=too_slow kind=too_slow line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * T, col = blockIdx.x * T;
    const int rows = min(T, M - row), cols = min(T, N - col);
    float sum[T][T] = {}, b[T];
    for (int k = 0; k < K; ++k) {
        for (int j = 0; j < cols; ++j) b[j] = B[k * N + col + j];
        for (int i = 0; i < rows; ++i) {
            const float a = A[(row + i) * K + k];  // EXPECT-LINE
            for (int j = 0; j < cols; ++j) sum[i][j] += a * b[j];
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) C[(row + i) * N + col + j] = sum[i][j];
    }
}

LAUNCH_CONFIG(.block_x = 1, .block_y = 1, .tile_m = T, .tile_n = T);
