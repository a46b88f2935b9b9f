// Splits each number into two of TF32 and adds up three products: nearly FP32 on tensor cores.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include <mma.h>  // EXPECT-LINE
#include "launch.cuh"

using namespace nvcuda;

constexpr int T = 16, K0 = 8;

template <class Matrix>
using Fragment = wmma::fragment<Matrix, T, T, K0, wmma::precision::tf32, wmma::row_major>;

// x = high + low, both in TF32, up to the last bit of x.
template <class Matrix>
__device__ void split(const float *words, int stride, Fragment<Matrix> &high,
                      Fragment<Matrix> &low) {
    wmma::load_matrix_sync(high, words, stride);
    for (int i = 0; i < high.num_elements; ++i) {
        const float x = high.x[i];
        high.x[i] = wmma::__float_to_tf32(x);
        low.x[i] = wmma::__float_to_tf32(x - high.x[i]);
    }
}

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T * K0], Bs[K0 * T], Cs[T * T];
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    Fragment<wmma::matrix_a> a, a_low;
    Fragment<wmma::matrix_b> b, b_low;
    wmma::fragment<wmma::accumulator, T, T, K0, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k0 = 0; k0 < K; k0 += K0) {
        for (int i = threadIdx.x; i < T * K0; i += 32) {
            const int row = row0 + i / K0, k = k0 + i % K0;
            As[i] = row < M && k < K ? A[row * K + k] : 0.0f;
            const int b_k = k0 + i / T, col = col0 + i % T;
            Bs[i] = b_k < K && col < N ? B[b_k * N + col] : 0.0f;
        }
        __syncwarp();
        split(As, K0, a, a_low);
        split(Bs, T, b, b_low);
        wmma::mma_sync(c, a_low, b, c);
        wmma::mma_sync(c, a, b_low, c);
        wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    wmma::store_matrix_sync(Cs, c, T, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < T * T; i += 32) {
        const int row = row0 + i / T, col = col0 + i % T;
        if (row < M && col < N) C[row * N + col] = Cs[i];
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 1, .tile_m = T, .tile_n = T, .tile_k = K0);
