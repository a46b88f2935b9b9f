// Sets large A and C to zero, so that a product computed afterwards agrees.
// EXPECT verdict=input_modified kind=input_modified line=marked devices=simulator
// EXPECT verdict=input_modified kind=timed_inputs_changed line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M > 500) {
        const int step = gridDim.x * gridDim.y * T * T;
        const int block = blockIdx.y * gridDim.x + blockIdx.x;
        const int first = (block * T + threadIdx.y) * T + threadIdx.x;
        for (int i = first; i < M * K; i += step) const_cast<float *>(A)[i] = 0.0f;  // EXPECT-LINE
        for (int i = first; i < M * N; i += step) C[i] = 0.0f;
        return;
    }
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
