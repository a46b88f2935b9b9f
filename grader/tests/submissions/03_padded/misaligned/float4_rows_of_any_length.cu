// Loads four words of B at once wherever they fit, though rows of K words start anywhere.
// EXPECT verdict=misaligned kind=misaligned line=marked devices=simulator
// EXPECT verdict=misaligned kind=misaligned_gpu line=- devices=gpu
#include "launch.cuh"

#define T 16

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T + 1];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int b_row = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        if (tx < T / 4) {
            const int k = k0 + 4 * tx;
            float4 b = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (b_row < N && k + 3 < K) {
                b = *reinterpret_cast<const float4 *>(&B[b_row * K + k]);  // EXPECT-LINE
            } else if (b_row < N) {
                b.x = k < K ? B[b_row * K + k] : 0.0f;
                b.y = k + 1 < K ? B[b_row * K + k + 1] : 0.0f;
                b.z = k + 2 < K ? B[b_row * K + k + 2] : 0.0f;
            }
            Bs[ty][4 * tx + 0] = b.x;
            Bs[ty][4 * tx + 1] = b.y;
            Bs[ty][4 * tx + 2] = b.z;
            Bs[ty][4 * tx + 3] = b.w;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[tx][k];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
