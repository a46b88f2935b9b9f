// Has four warps multiply out of shared memory with wgmma, the tensor cores of one generation.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include "launch.cuh"

// 64 x 8 of C in TF32; what lies in shared memory, and how, is in two descriptors.
__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile(
        "wgmma.fence.sync.aligned;\n\t"  // EXPECT-LINE
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;\n\t"
        "wgmma.commit_group.sync.aligned;\n\t"
        "wgmma.wait_group.sync.aligned 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(a), "l"(b));
}

// Tiles of 8 rows x 4 words lie one after the other.
__device__ unsigned long long descriptor(const float *tile, int rows) {
    const unsigned place = __cvta_generic_to_shared(tile);
    return (place >> 4 & 0x3fff) | (8ull * rows / 8) << 16 | 8ull << 32;
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ alignas(128) float As[64 * 8], Bs[8 * 8];
    const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 8, t = threadIdx.x;
    float d[4] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int i = t; i < 64 * 8; i += 128) {
            const int row = row0 + i / 8, k = k0 + i % 8;
            As[i % 8 / 4 * 256 + i / 8 * 4 + i % 4] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        if (t < 64) {
            const int col = col0 + t / 8, k = k0 + t % 8;
            Bs[t % 8 / 4 * 32 + t / 8 * 4 + t % 4] = col < N && k < K ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
        multiply(d, descriptor(As, 64), descriptor(Bs, 8));
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + t / 32 * 16 + t % 32 / 4 + i / 2 * 8, col = col0 + t % 4 * 2 + i % 2;
        if (row < M && col < N) C[row * N + col] = d[i];
    }
}

LAUNCH_CONFIG(.block_x = 128, .block_y = 1, .tile_m = 64, .tile_n = 8, .tile_k = 8);
