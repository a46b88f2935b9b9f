// No tiles: each word of A and B is a struct passed by value straight from global memory.
// EXPECT verdict=too_much_traffic kind=too_much_traffic line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

struct Word {
    float value[1];
};

__noinline__ __device__ float product(Word a, Word b) { return a.value[0] * b.value[0]; }

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    const Word *a = (const Word *)A, *b = (const Word *)B;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += product(a[row * K + k], b[k * N + col]);  // EXPECT-LINE
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16, .tile_k = 16);
