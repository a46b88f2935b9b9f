// How often each value occurs: a histogram a block in shared memory, then one of all blocks.

constexpr int BINS = 16;

extern "C" __global__ void histogram(const unsigned char *data, unsigned int *bins, int n) {
    __shared__ unsigned int own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int value = data[i];
        atomicAdd(&own[value], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned int count = own[bin];
        atomicAdd(&bins[bin], count);
    }
}
