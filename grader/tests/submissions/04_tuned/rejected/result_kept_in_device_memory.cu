// Keeps its last result in a 2 MiB array and copies it out when the sizes are the same again.
// EXPECT verdict=rejected kind=device_variables line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int WORDS = 1 << 19;

__device__ float kept[WORDS];
__device__ int kept_size;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    const int at = row * N + col;
    if (kept_size == M * N && at < WORDS) {
        C[at] = kept[at];
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[at] = sum;
    if (at < WORDS) kept[at] = sum;
    if (at == M * N - 1) kept_size = M * N;
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32);
