// A quarter of the threads loads A four words at a time, though rows of K words start anywhere.
// EXPECT verdict=misaligned kind=misaligned line=marked devices=simulator
#include "launch.cuh"

constexpr int T = 16;

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ __align__(16) float As[T][T];
    __shared__ float Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const int r = ty * 4 + tx / 4, c = tx % 4 * 4, first = blockIdx.y * T + r;
        if (ty < 4 && first < M && k0 + c + 3 < K) {
            const float *from = &A[first * K + k0 + c];
            *reinterpret_cast<float4 *>(&As[r][c]) = *reinterpret_cast<const float4 *>(from);  // EXPECT-LINE
        } else if (ty < 4) {
            for (int i = c; i < c + 4; ++i) As[r][i] = first < M && k0 + i < K ? A[first * K + k0 + i] : 0;
        }
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += As[ty][i] * Bs[i][tx];
        __syncthreads();  // before the next load
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
