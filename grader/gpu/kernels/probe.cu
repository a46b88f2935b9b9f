// Watches whether the GPU stays with this process: one thread reads the clock for a while. A GPU
// that other processes share is taken away for whole time slices, which no read then falls into.

static __device__ inline unsigned long long now_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

extern "C" __global__ void probe(unsigned long long *longest_gap_ns, unsigned long long watch_ns) {
    unsigned long long start = now_ns(), last = start, longest = 0;
    while (last - start < watch_ns) {
        unsigned long long now = now_ns();
        if (now - last > longest) longest = now - last;
        last = now;
    }
    *longest_gap_ns = longest;
}
