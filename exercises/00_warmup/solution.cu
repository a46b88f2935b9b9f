// Warm-up: C = A * B. A is M x K, B is K x N, C is M x N, all row-major.
//STARTER // One index in this kernel is wrong. Find it with: make test EX=warmup
#include "launch.cuh"

constexpr int BLOCK_X = 16;  // threads of a block along x: columns of C
constexpr int BLOCK_Y = 16;  // threads of a block along y: rows of C

__global__ void matmul_warmup(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;  // the last blocks reach past the edge of C

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        // BEGIN SOLUTION
        //STARTER sum += A[row * K + k] * B[k * K + col];
        sum += A[row * K + k] * B[k * N + col];
        // END SOLUTION
    }
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = BLOCK_X, .block_y = BLOCK_Y, .tile_m = BLOCK_Y, .tile_n = BLOCK_X);
