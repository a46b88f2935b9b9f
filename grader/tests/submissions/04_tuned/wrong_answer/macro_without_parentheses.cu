// The macro's parameters have no parentheses: only the last part of a sum is multiplied.
// EXPECT verdict=wrong_answer kind=wrong_blocks line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int TILE = 64;    // rows and columns of C that a block computes
constexpr int DEPTH = 16;   // of one step along K
constexpr int ACROSS = 16;  // threads along x and along y, each with 4 x 4 elements of C
#define AT(row, col, cols) row * cols + col

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[DEPTH][TILE + 1];
    __shared__ float Bs[DEPTH][TILE];
    const int thread = threadIdx.y * ACROSS + threadIdx.x;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += ACROSS * ACROSS) {
            const int row = i / DEPTH, k = k0 + i % DEPTH;
            As[i % DEPTH][i / DEPTH] = row0 + row < M && k < K ? A[AT(row0 + row, k, K)] : 0.0f;
        }
        for (int i = thread; i < TILE * DEPTH; i += ACROSS * ACROSS) {
            const int k = k0 + i / TILE, col = col0 + i % TILE;
            Bs[i / TILE][i % TILE] = k < K && col < N ? B[k * N + col] : 0.0f;
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
