// The multiply-add in inline PTX inside a function: fine on a GPU, unknown to the simulator.
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 32;

__device__ __forceinline__ void multiply_add(float &sum, float a, float b) {
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.y * T, col = blockIdx.x * T + tx;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int y = ty; y < T; y += 8) {
            As[y][tx] = row0 + y < M && k0 + tx < K ? A[(row0 + y) * K + k0 + tx] : 0.0f;
            Bs[y][tx] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < 4; ++i) multiply_add(sum[i], As[ty + 8 * i][k], Bs[k][tx]);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}

LAUNCH_CONFIG(.block_x = T, .block_y = 8, .tile_m = T, .tile_n = T, .tile_k = T);
