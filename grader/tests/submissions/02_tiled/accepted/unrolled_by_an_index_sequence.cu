// Sums the products of a tile in a fold over std::index_sequence, checked by type traits.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include <limits>
#include <type_traits>
#include <utility>

#include "launch.cuh"

constexpr int T = 16;
static_assert(std::numeric_limits<unsigned short>::max() > T, "an index of a tile is short");

template <typename Value>
using Rows = std::enable_if_t<std::is_floating_point_v<Value>, Value[T][T]>;

template <typename Value, std::size_t... Ks>
__device__ Value dot(const Rows<Value> &left, const Rows<Value> &right, unsigned short ty,
                     unsigned short tx, std::index_sequence<Ks...>) {
    static_assert(std::is_trivially_copyable<Value>::value, "tiles are raw memory");
    return (Value(0) + ... + (left[ty][Ks] * right[Ks][tx]));
}

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ Rows<float> As;
    __shared__ Rows<float> Bs;
    unsigned short tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    std::decay_t<decltype(*C)> sum = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        sum += dot<float>(As, Bs, ty, tx, std::make_index_sequence<T>());
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
