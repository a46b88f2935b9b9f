// The tile of B is not padded; instead of meeting in one bank, the lanes read it one by one.
// EXPECT verdict=too_much_traffic kind=shared_wavefronts line=marked devices=simulator
// EXPECT verdict=accepted kind=- line=- devices=gpu
#include "launch.cuh"

constexpr int T = 8;

__global__ void matmul_padded(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx, b_row = blockIdx.x * T + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = b_row < N && k0 + tx < K ? B[b_row * K + k0 + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            float b = 0.0f;
            for (int turn = 0; turn < T; ++turn) {
                if (turn == tx) b = Bs[turn][k];  // EXPECT-LINE
                __syncwarp();
            }
            sum += As[ty][k] * b;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
