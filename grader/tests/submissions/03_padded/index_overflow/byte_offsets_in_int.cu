// Addresses B by a byte offset in an int, which overflows for matrices above 2 GB.
// EXPECT verdict=index_overflow kind=index_overflow line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int row_of_b = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        int k = k0 + tx;
        As[ty][tx] = row < M && k < K ? A[row * K + k] : 0.0f;
        const char *bytes = reinterpret_cast<const char *>(B);
        int offset = (row_of_b * K + k) * 4;  // EXPECT-LINE
        bool inside = row_of_b < N && k < K;
        Bs[ty][tx] = inside ? *reinterpret_cast<const float *>(bytes + offset) : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[tx][i];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
