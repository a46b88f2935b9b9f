// A warp loads 32 elements of its row of A at once and hands them round with __shfl_sync.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int lane = threadIdx.x;  // a block is 32 wide, so one warp is one row of C
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * 32 + lane;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        const float mine = row < M && k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        const int steps = K - k0 < 32 ? K - k0 : 32;
        for (int k = 0; k < steps; ++k) {
            const float a = __shfl_sync(ALL_LANES, mine, k);
            if (col < N) sum += a * B[(k0 + k) * N + col];
        }
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
