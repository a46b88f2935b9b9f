// Sums of an array, one a block: shuffles inside a warp, shared memory between warps.

template <int THREADS>
__global__ void block_sums(const float *in, float *out, int n) {
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps");
    __shared__ float partial[THREADS / 32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        sum += in[i];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();

    if (warp > 0) return;
    sum = lane < THREADS / 32 ? partial[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) out[blockIdx.x] = sum;
}

template __global__ void block_sums<256>(const float *, float *, int);
