// Register tiles without float4, without double buffering: OUTPUTS x OUTPUTS elements a thread, 16
// rows and columns apart, the tile of A stored transposed.
#include "launch.cuh"

constexpr int BM = 64, BN = 64, BK = 16;
constexpr int OUTPUTS = 4;
constexpr int PAD = 0;  // spare words in a row of the tile of A
static_assert(BM == 16 * OUTPUTS && BN == 16 * OUTPUTS, "16 x 16 threads");

__global__ void matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float At[BK][BM + PAD];  // At[k][row]
    __shared__ float Bs[BK][BN];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * 16 + tx;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    float sum[OUTPUTS][OUTPUTS] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = thread; i < BM * BK; i += 256) {
            int row = row0 + i / BK;
            int k = k0 + i % BK;
            At[i % BK][i / BK] = row < M && k < K ? A[row * K + k] : 0.0f;
        }
        for (int i = thread; i < BK * BN; i += 256) {
            int k = k0 + i / BN;
            int col = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float a[OUTPUTS], b[OUTPUTS];
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i) a[i] = At[k][ty + 16 * i];
#pragma unroll
            for (int j = 0; j < OUTPUTS; ++j) b[j] = Bs[k][tx + 16 * j];
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i) {
#pragma unroll
                for (int j = 0; j < OUTPUTS; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i) {
#pragma unroll
        for (int j = 0; j < OUTPUTS; ++j) {
            int row = row0 + ty + 16 * i;
            int col = col0 + tx + 16 * j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = BM, .tile_n = BN, .tile_k = BK);
