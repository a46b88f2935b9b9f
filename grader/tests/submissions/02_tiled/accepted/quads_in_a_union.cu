// Moves tiles as unions of a float4 and its four floats, and copies whole unions.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 32;
constexpr int LANES = 4;

union Quad {
    float4 whole;
    float part[LANES];
};

struct Tile {
    Quad at[T][T / LANES];
};

// Four neighbours of a row of a matrix; zeros outside of it.
__device__ Quad load(const float *from, int row, int col, int rows, int cols) {
    Quad quad;
    if (row < rows && col + LANES <= cols && cols % LANES == 0) {
        quad.whole = *reinterpret_cast<const float4 *>(&from[row * cols + col]);
        return quad;
    }
    for (int i = 0; i < LANES; ++i) {
        quad.part[i] = row < rows && col + i < cols ? from[row * cols + col + i] : 0.0f;
    }
    return quad;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Tile As, Bs;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + LANES * tx;
    Quad sum = {make_float4(0.0f, 0.0f, 0.0f, 0.0f)};
    for (int k0 = 0; k0 < K; k0 += T) {
        As.at[ty][tx] = load(A, row, k0 + LANES * tx, M, K);
        Bs.at[ty][tx] = load(B, k0 + ty, col, K, N);
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            float a = As.at[ty][k / LANES].part[k % LANES];
            Quad b = Bs.at[k][tx];
            for (int i = 0; i < LANES; ++i) sum.part[i] += a * b.part[i];
        }
        __syncthreads();
    }
    for (int i = 0; i < LANES; ++i) {
        if (row < M && col + i < N) C[row * N + col + i] = sum.part[i];
    }
}

LAUNCH_CONFIG(.block_x = T / LANES, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
