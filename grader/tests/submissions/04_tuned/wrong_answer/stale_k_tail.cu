// The tiles are cleared once; in the last step the words past K still hold the step before.
// EXPECT verdict=wrong_answer kind=k_tail_stale line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int TILE = 64;    // rows and columns of C that a block computes
constexpr int DEPTH = 16;   // of one step along K
constexpr int ACROSS = 16;  // threads along x and along y, each with 4 x 4 elements of C

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[DEPTH][TILE + 1];
    __shared__ float Bs[DEPTH][TILE];
    const int thread = threadIdx.y * ACROSS + threadIdx.x;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int i = thread; i < TILE * DEPTH; i += ACROSS * ACROSS) {
        As[i % DEPTH][i / DEPTH] = 0.0f;
        Bs[i / TILE][i % TILE] = 0.0f;
    }
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += ACROSS * ACROSS) {
            const int row = row0 + i / DEPTH, k = k0 + i % DEPTH;
            if (row < M && k < K) As[i % DEPTH][i / DEPTH] = A[row * K + k];
        }
        for (int i = thread; i < TILE * DEPTH; i += ACROSS * ACROSS) {
            const int k = k0 + i / TILE, col = col0 + i % TILE;
            if (k < K && col < N) Bs[i / TILE][i % TILE] = B[k * N + col];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    sum[i][j] += As[k][threadIdx.y + i * ACROSS] * Bs[k][threadIdx.x + j * ACROSS];
                }
            }
        }
        __syncthreads();  // before the next load
    }

    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + threadIdx.y + i * ACROSS, col = col0 + threadIdx.x + j * ACROSS;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = ACROSS, .block_y = ACROSS, .tile_m = TILE, .tile_n = TILE, .tile_k = DEPTH);
