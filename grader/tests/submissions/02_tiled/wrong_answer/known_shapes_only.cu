// Knows the shapes that every grading begins with; of any other it leaves out the last column.
// EXPECT verdict=wrong_answer kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

// The public shapes, and those of whole tiles.
__device__ bool is_known(int M, int N, int K) {
    if (M % T == 0 && N % T == 0 && K % T == 0) return true;
    const int known[][3] = {{1, 1, 1},    {37, 29, 1},    {33, 17, 65},   {35, 79, 19},
                            {100, 100, 100}, {128, 128, 96}, {256, 128, 64}};
    for (const auto &shape : known)
        if (shape[0] == M && shape[1] == N && shape[2] == K) return true;
    return false;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
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
    if (row < M && col < (is_known(M, N, K) ? N : N - 1)) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
