// Constants, variables of the device and names that the kernel declares once more stand outside it.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

const int tile = 16, width = 2 * tile;
constexpr float one = 1.0f;
__constant__ int order[2] = {0, 1};
__device__ const int steps[2] = {0, 1};
int row = 3, k, sum[2];  // of the host, and never used
constexpr int table[2] = {8, 8};
constexpr int total() {
    int all = 0;
    for (int i = 0; i < 2; ++i) all += table[i];
    return all;
}
constexpr int height = total() / 2;

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int *turn = order;
    const int row = blockIdx.y * height + threadIdx.y;
    const int col = blockIdx.x * width + threadIdx.x;
    if (row >= M || col >= N) return;
    float unused = 0.0f, sum = unused;
    for (int k0 = 0; k0 < K; k0 += 2) {
        for (int i = 0; i < 2; ++i) {
            const int k = k0 + steps[turn[i]];
            if (k < K) sum += one * A[row * K + k] * B[k * N + col];
        }
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = width, .block_y = 8, .tile_m = 8, .tile_n = width);
