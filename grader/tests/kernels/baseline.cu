// Stands for the grader's baseline, which is in PTX, where kernels run on the CPU.

static constexpr int SIDE = 16;

extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    baseline(const float *A, const float *B, float *C, int M, int N, int K) {
    const int x = blockIdx.x * SIDE + threadIdx.x;
    const int y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= N || y >= M) return;

    const float *left = A + (long long)y * K;
    const float *right = B + x;
    float total = 0.0f;
    for (int left_over = K; left_over > 0; --left_over) {
        total = fmaf(*left, *right, total);
        left += 1;
        right += N;
    }
    C[(long long)y * N + x] = total;
}
