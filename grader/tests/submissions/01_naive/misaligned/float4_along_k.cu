// Reads A four words at a time, also where K is no multiple of 4 and rows start anywhere.
// EXPECT verdict=misaligned kind=misaligned line=marked devices=simulator
// EXPECT verdict=misaligned kind=misaligned_gpu line=- devices=gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    int k = 0;
    for (; k + 3 < K; k += 4) {
        const float4 a = *reinterpret_cast<const float4 *>(&A[row * K + k]);  // EXPECT-LINE
        sum += a.x * B[k * N + col] + a.y * B[(k + 1) * N + col];
        sum += a.z * B[(k + 2) * N + col] + a.w * B[(k + 3) * N + col];
    }
    for (; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
