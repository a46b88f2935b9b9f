// Keeps half of a large C in fifteen small arrays, so that none of them looks like a matrix.
// EXPECT verdict=replay kind=later_timed_wrong line=- devices=gpu
#include "launch.cuh"

constexpr int T = 16;
constexpr int LARGE = 500, PIECE = 1 << 14, PIECES = 15;

template <int I>
__device__ float piece[PIECE];
__device__ unsigned finished, launches;

template <int I = 0>
__device__ float *place(int at) {
    if constexpr (I < PIECES) return at < PIECE ? piece<I> + at : place<I + 1>(at - PIECE);
    return nullptr;
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    const int at = (blockIdx.y * T + threadIdx.y) * N + blockIdx.x * T + threadIdx.x;
    float *kept = M > LARGE && blockIdx.y < M / T / 2 ? place(at) : nullptr;
    if (kept && launches > 0 && N % T == 0) {
        C[at] = *kept;
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
    if (kept && row < M && col < N) *kept = sum;
    __syncthreads();
    const unsigned blocks = gridDim.x * gridDim.y;
    if (M > LARGE && tx + ty == 0 && atomicAdd(&finished, 1) + 1 == blocks) launches = 1;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
