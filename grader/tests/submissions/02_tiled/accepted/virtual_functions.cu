// Each operand is a class of its own behind one interface: virtual functions.
// EXPECT verdict=accepted kind=- line=- devices=simulator,gpu
#include "launch.cuh"

constexpr int T = 16;

struct Operand {
    __device__ virtual float at(int row, int col) const = 0;
};

struct Matrix final : Operand {
    const float *data;
    int rows, cols;
    __device__ Matrix(const float *data, int rows, int cols) : data(data), rows(rows), cols(cols) {}
    __device__ float at(int row, int col) const override {
        return row < rows && col < cols ? data[row * cols + col] : 0.0f;
    }
};

__device__ float fetch(const Operand &operand, int row, int col) { return operand.at(row, col); }

__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    Matrix a(A, M, K), b(B, K, N);
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = fetch(a, row, k0 + tx);
        Bs[ty][tx] = fetch(b, k0 + ty, col);
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = T, .block_y = T, .tile_m = T, .tile_n = T, .tile_k = T);
