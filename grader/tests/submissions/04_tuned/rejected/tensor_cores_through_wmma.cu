// One warp, one 16 x 16 tile, on the tensor cores in half precision.
// EXPECT verdict=rejected kind=tensor_cores line=marked devices=simulator,gpu
#include <mma.h>  // EXPECT-LINE
#include "launch.cuh"

using namespace nvcuda;

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ half As[16 * 16], Bs[16 * 16];
    __shared__ float Cs[16 * 16];
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            const int r = i / 16, s = i % 16;
            As[i] = row0 + r < M && k0 + s < K ? A[(row0 + r) * K + k0 + s] : 0.0f;
            Bs[i] = k0 + r < K && col0 + s < N ? B[(k0 + r) * N + col0 + s] : 0.0f;
        }
        __syncwarp();
        wmma::load_matrix_sync(a, As, 16);
        wmma::load_matrix_sync(b, Bs, 16);
        wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    wmma::store_matrix_sync(Cs, c, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) {
        const int row = row0 + i / 16, col = col0 + i % 16;
        if (row < M && col < N) C[row * N + col] = Cs[i];
    }
}

LAUNCH_CONFIG(.block_x = 32, .block_y = 1, .tile_m = 16, .tile_n = 16, .tile_k = 16);
