// Rounds to TF32 and multiplies on the tensor cores: exact for small integers.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include <mma.h>  // EXPECT-LINE
#include "launch.cuh"

using namespace nvcuda;

constexpr int M0 = 16, N0 = 16, K0 = 8;

using TileA = wmma::fragment<wmma::matrix_a, M0, N0, K0, wmma::precision::tf32, wmma::row_major>;
using TileB = wmma::fragment<wmma::matrix_b, M0, N0, K0, wmma::precision::tf32, wmma::row_major>;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[M0 * K0], Bs[K0 * N0];
    __shared__ float Cs[M0 * N0];
    const int row0 = blockIdx.y * M0, col0 = blockIdx.x * N0;
    TileA a;
    TileB b;
    wmma::fragment<wmma::accumulator, M0, N0, K0, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k0 = 0; k0 < K; k0 += K0) {
        for (int i = threadIdx.x; i < M0 * K0; i += 32) {
            const int row = row0 + i / K0, k = k0 + i % K0;
            As[i] = wmma::__float_to_tf32(row < M && k < K ? A[row * K + k] : 0.0f);
        }
        for (int i = threadIdx.x; i < K0 * N0; i += 32) {
            const int k = k0 + i / N0, col = col0 + i % N0;
            Bs[i] = wmma::__float_to_tf32(k < K && col < N ? B[k * N + col] : 0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(a, As, K0);
        wmma::load_matrix_sync(b, Bs, N0);
        wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    wmma::store_matrix_sync(Cs, c, N0, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M0 * N0; i += 32) {
        const int row = row0 + i / N0, col = col0 + i % N0;
        if (row < M && col < N) C[row * N + col] = Cs[i];
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 1, .tile_m = M0, .tile_n = N0, .tile_k = K0);
