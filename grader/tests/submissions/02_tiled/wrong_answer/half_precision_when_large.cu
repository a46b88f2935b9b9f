// Multiplies two numbers of half precision at once, in inline PTX, when the matrices are large.
// EXPECT verdict=wrong_answer kind=timed_wrong line=- devices=gpu
// EXPECT verdict=not_graded kind=feature line=- devices=simulator
#include "launch.cuh"

constexpr int T = 16;

// a * b for two pairs of halves, summed up in single precision.
__device__ float multiply2(float a0, float a1, float b0, float b1) {
    float low, high;
    asm("{.reg .b32 a, b, p; .reg .b16 l, h;\n\t"
        "cvt.rn.f16x2.f32 a, %2, %3; cvt.rn.f16x2.f32 b, %4, %5;\n\t"
        "mul.rn.f16x2 p, a, b; mov.b32 {l, h}, p;\n\t"
        "cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "f"(a0), "f"(a1), "f"(b0), "f"(b1));
    return low + high;
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
        for (int k = 0; k < T; k += 2)
            sum += M > 500 ? multiply2(As[ty][k], As[ty][k + 1], Bs[k][tx], Bs[k + 1][tx])
                           : As[ty][k] * Bs[k][tx] + As[ty][k + 1] * Bs[k + 1][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
