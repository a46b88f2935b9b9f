// Takes small integers for bytes and multiplies them on the tensor cores, eight bits at a time.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include "launch.cuh"

// D (8 x 8) += A (8 x 16) * B (16 x 8), a word holds four bytes.
__device__ void multiply(int (&d)[2], int a, int b) {
    asm volatile(
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "  // EXPECT-LINE
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a), "r"(b));
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    const int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    const int row = blockIdx.y * 8 + group, col = blockIdx.x * 8 + group;
    int d[2] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        int a = 0, b = 0;
        for (int i = 0; i < 4; ++i) {
            const int k = k0 + 4 * lane + i;
            const int x = row < M && k < K ? A[row * K + k] : 0.0f;
            const int y = col < N && k < K ? B[k * N + col] : 0.0f;
            a |= (x & 0xff) << 8 * i;
            b |= (y & 0xff) << 8 * i;
        }
        multiply(d, a, b);
    }
    for (int i = 0; i < 2; ++i) {
        const int c = blockIdx.x * 8 + 2 * lane + i;
        if (row < M && c < N) C[row * N + c] = d[i];
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 1, .tile_m = 8, .tile_n = 8, .tile_k = 16);
