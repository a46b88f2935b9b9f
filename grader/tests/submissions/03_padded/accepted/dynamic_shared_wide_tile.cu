// A 1-D block, a 32 x 64 tile in dynamic shared memory, the padded stride as a template parameter.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

extern __shared__ __align__(16) float shared[];

template <int ROWS, int BK, int STRIDE, int THREADS>
__device__ void load_tile(float *tile, const float *matrix, int row0, int rows, int k0, int K) {
    for (int i = threadIdx.x; i < ROWS * BK; i += THREADS) {
        const int r = i / BK, k = i % BK;
        const bool inside = row0 + r < rows && k0 + k < K;
        tile[r * STRIDE + k] = inside ? matrix[(row0 + r) * K + k0 + k] : 0.0f;
    }
}

constexpr int BM = 32, BN = 64, BK = 32, STRIDE = BK + 1, THREADS = 256;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    float *As = shared;
    float *Bs = shared + BM * STRIDE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float sum[4][2] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        load_tile<BM, BK, STRIDE, THREADS>(As, A, row0, M, k0, K);
        load_tile<BN, BK, STRIDE, THREADS>(Bs, B, col0, N, k0, K);
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < 4; ++i) {
                const float a = As[(warp + 8 * i) * STRIDE + k];
                sum[i][0] += a * Bs[lane * STRIDE + k];
                sum[i][1] += a * Bs[(lane + 32) * STRIDE + k];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + warp + 8 * i, col = col0 + lane + 32 * j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = THREADS, .block_y = 1, .tile_m = BM, .tile_n = BN, .tile_k = BK,
              .dynamic_shared = (BM + BN) * STRIDE * 4);
