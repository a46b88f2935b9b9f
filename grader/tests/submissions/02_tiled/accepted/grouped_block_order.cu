// Blocks are renumbered in groups of four rows, so that neighbours in time share columns of B.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

#define TILE 16
#define GROUP 4
#define OFFSET(row, col, ld) ((row) * (ld) + (col))

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ __align__(16) float As[TILE * TILE];
    __shared__ __align__(16) float Bs[TILE * TILE];
    const uint id = blockIdx.y * gridDim.x + blockIdx.x;
    const uint per_group = GROUP * gridDim.x;
    const uint first = id / per_group * GROUP;
    const uint height = min(gridDim.y - first, static_cast<uint>(GROUP));
    const int block_row = first + id % per_group % height;
    const int block_col = id % per_group / height;

    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = block_row * TILE + ty;
    const int col = block_col * TILE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const bool a_inside = row < M && k0 + tx < K;
        const bool b_inside = k0 + ty < K && col < N;
        As[OFFSET(ty, tx, TILE)] = a_inside ? A[OFFSET(row, k0 + tx, K)] : 0.0f;
        Bs[OFFSET(ty, tx, TILE)] = b_inside ? B[OFFSET(k0 + ty, col, N)] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[OFFSET(ty, k, TILE)] * Bs[OFFSET(k, tx, TILE)];
        __syncthreads();
    }
    if (row < M && col < N) C[OFFSET(row, col, N)] = sum;
}

LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE, .tile_n = TILE, .tile_k = TILE);
