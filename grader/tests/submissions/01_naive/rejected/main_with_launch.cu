// A whole program with a main of its own was handed in.
// EXPECT verdict=rejected kind=host_code line=marked devices=simulator,gpu
#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);

int main() {  // EXPECT-LINE
    float *A, *B, *C;
    cudaMalloc(&A, 256 * 256 * sizeof(float));
    cudaMalloc(&B, 256 * 256 * sizeof(float));
    cudaMalloc(&C, 256 * 256 * sizeof(float));
    matmul_naive<<<dim3(16, 16), dim3(16, 16)>>>(A, B, C, 256, 256, 256);
    return cudaDeviceSynchronize() != cudaSuccess;
}
