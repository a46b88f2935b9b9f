// Four warps, each with a 32 x 32 piece of a 64 x 64 tile; a lane has 4 x 8 outputs.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int BM = 64, BN = 64, BK = 8, LDA = BM + 4;

__device__ inline const float4 &as_float4(const float &x) {
    return reinterpret_cast<const float4 &>(x);
}

__device__ float4 load4(const float *m, int row, int col, int rows, int cols) {
    float v[4];
    if (row < rows && col + 4 <= cols && cols % 4 == 0) return as_float4(m[row * cols + col]);
    for (int i = 0; i < 4; ++i)
        v[i] = row < rows && col + i < cols ? m[row * cols + col + i] : 0.0f;
    return {v[0], v[1], v[2], v[3]};
}

__global__ void __launch_bounds__(128)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    alignas(16) __shared__ float At[BK][LDA];
    alignas(16) __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x, lane = tid % warpSize, warp = tid / warpSize;
    const int row_in_tile = warp / 2 * 32 + lane / 4 * 4;
    const int col_in_tile = warp % 2 * 32 + lane % 4 * 4;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float4 sum[4][2];
    for (auto &pair : sum) pair[0] = pair[1] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    auto add = [](float4 &s, float a, const float4 &b) {
        s.x += a * b.x;
        s.y += a * b.y;
        s.z += a * b.z;
        s.w += a * b.w;
    };

    for (int k0 = 0; k0 < K; k0 += BK) {
        const int a_row = tid / 2, a_k = tid % 2 * 4, b_k = tid / 16, b_col = tid % 16 * 4;
        const float4 a4 = load4(A, row0 + a_row, k0 + a_k, M, K);
        const float a_words[4] = {a4.x, a4.y, a4.z, a4.w};
        for (int i = 0; i < 4; ++i) At[a_k + i][a_row] = a_words[i];
        reinterpret_cast<float4 &>(Bs[b_k][b_col]) = load4(B, k0 + b_k, col0 + b_col, K, N);
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float4 a = as_float4(At[k][row_in_tile]);
            const float4 b0 = as_float4(Bs[k][col_in_tile]);
            const float4 b1 = as_float4(Bs[k][col_in_tile + 16]);
            add(sum[0][0], a.x, b0), add(sum[0][1], a.x, b1);
            add(sum[1][0], a.y, b0), add(sum[1][1], a.y, b1);
            add(sum[2][0], a.z, b0), add(sum[2][1], a.z, b1);
            add(sum[3][0], a.w, b0), add(sum[3][1], a.w, b1);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + row_in_tile + i, col = col0 + col_in_tile + 16 * j;
            const float words[4] = {sum[i][j].x, sum[i][j].y, sum[i][j].z, sum[i][j].w};
            for (int w = 0; w < 4; ++w)
                if (row < M && col + w < N) C[row * N + col + w] = words[w];
        }
    }
}

LAUNCH_CONFIG(.block_x = 128, .block_y = 1, .tile_m = BM, .tile_n = BN, .tile_k = BK);
