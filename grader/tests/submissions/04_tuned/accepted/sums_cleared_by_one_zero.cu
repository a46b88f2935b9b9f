// Sums in rows of float4 that one zero clears, sizes from an array, tiles aligned to a constant.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int SIZES[3] = {64, 64, 16};
constexpr int BM = SIZES[0], BN = SIZES[1], BK = SIZES[2];
constexpr unsigned ALIGNMENT = 16;
struct Tiles {
    float first;  // so that the arrays lie where their alignment puts them
    alignas(ALIGNMENT) float a[BK][BM + 4];
    alignas(ALIGNMENT) float b[BK][BN];
};

__global__ void __launch_bounds__(BM * BN > 4096 ? 512 : 256)
matmul_tuned(const float *A, const float *B, float *C, int M, int N, int K) {
    static_assert(SIZES[0] % 4 == 0 && SIZES[1] % 4 == 0, "float4");
    __shared__ Tiles tiles;
    auto &t = threadIdx;
    const int tid = t.x, tr = tid / 16, tc = tid % 16;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float4 acc[4] = {0.0f};  // all sixteen sums are 0
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) {
            const int r = i / BK, k = i % BK;
            tiles.a[k][r] = m0 + r < M && k0 + k < K ? A[(m0 + r) * K + k0 + k] : 0.0f;
        }
        for (int i = tid; i < BN * BK; i += 256) {
            const int k = i / BN, c = i % BN;
            tiles.b[k][c] = n0 + c < N && k0 + k < K ? B[(k0 + k) * N + n0 + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float4 a = *reinterpret_cast<const float4 *>(&tiles.a[k][tr * 4]);
            const float4 b = *reinterpret_cast<const float4 *>(&tiles.b[k][tc * 4]);
            const float av[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                acc[i].x += av[i] * b.x;
                acc[i].y += av[i] * b.y;
                acc[i].z += av[i] * b.z;
                acc[i].w += av[i] * b.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int r = m0 + tr * 4 + i, c = n0 + tc * 4;
        if (r >= M) break;
        if (c + 0 < N) C[r * N + c + 0] = acc[i].x;
        if (c + 1 < N) C[r * N + c + 1] = acc[i].y;
        if (c + 2 < N) C[r * N + c + 2] = acc[i].z;
        if (c + 3 < N) C[r * N + c + 3] = acc[i].w;
    }
}
LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = BM, .tile_n = BN, .tile_k = BK);
