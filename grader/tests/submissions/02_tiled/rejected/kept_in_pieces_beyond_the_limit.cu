// Keeps a whole product in seventeen arrays, each far smaller than what is allowed.
// EXPECT verdict=rejected kind=device_variables line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;
constexpr int PIECE = 1 << 14, PIECES = 17;

template <int I>
__device__ float piece[PIECE];

template <int I = 0>
__device__ float *place(int at) {
    if constexpr (I < PIECES) return at < PIECE ? piece<I> + at : place<I + 1>(at - PIECE);
    return nullptr;
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
    if (row < M && col < N) C[row * N + col] = sum;
    float *kept = row < M && col < N ? place(row * N + col) : nullptr;
    if (kept) *kept = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
