// Each thread reads its row of A four elements at a time, also where fewer are left.
// EXPECT verdict=out_of_bounds kind=global_access line=marked devices=simulator
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 4) {
        const float4 a = *reinterpret_cast<const float4 *>(&A[row * K + k]);  // EXPECT-LINE
        sum += a.x * B[k * N + col];
        if (k + 1 < K) sum += a.y * B[(k + 1) * N + col];
        if (k + 2 < K) sum += a.z * B[(k + 2) * N + col];
        if (k + 3 < K) sum += a.w * B[(k + 3) * N + col];
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
