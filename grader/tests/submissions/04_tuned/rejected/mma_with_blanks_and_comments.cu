// Spells mma.sync with a comment, a line end and blanks between its parts, as ptxas allows.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include "launch.cuh"

// D (16 x 8) += A (16 x 8) * B (8 x 8) in TF32.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma // d += a * b\n\t"  // EXPECT-LINE
        ".sync /* all lanes */ .aligned .m16n8k8 .row .col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
          "r"(b[1]));
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    const int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
    auto a_at = [=](int r, int k) {
        return __float_as_uint(row0 + r < M && k < K ? A[(row0 + r) * K + k] : 0.0f);
    };
    auto b_at = [=](int k, int c) {
        return __float_as_uint(k < K && col0 + c < N ? B[k * N + col0 + c] : 0.0f);
    };
    float d[4] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        const unsigned a[4] = {a_at(group, k0 + lane), a_at(group + 8, k0 + lane),
                               a_at(group, k0 + lane + 4), a_at(group + 8, k0 + lane + 4)};
        const unsigned b[2] = {b_at(k0 + lane, group), b_at(k0 + lane + 4, group)};
        multiply(d, a, b);
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + group + i / 2 * 8, col = col0 + 2 * lane + i % 2;
        if (row < M && col < N) C[row * N + col] = d[i];
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 1, .tile_m = 16, .tile_n = 8, .tile_k = 8);
