// A thread keeps four products in the last array of a struct, and asks it for a fifth.
// EXPECT verdict=out_of_bounds kind=register_array line=marked devices=simulator
#include "launch.cuh"

struct Products {
    int count;
    float kept[4];
};

__device__ float total(const Products &of) {
    float sum = 0.0f;
    for (int i = 0; i <= of.count; ++i) sum += of.kept[i];  // EXPECT-LINE
    return sum;
}

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 4) {
            Products next = {min(4, K - k0), {}};
            for (int i = 0; i < next.count; ++i)
                next.kept[i] = A[row * K + k0 + i] * B[(k0 + i) * N + col];
            sum += total(next);
        }
        C[row * N + col] = sum;
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
