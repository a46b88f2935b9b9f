// Three ways to transpose a matrix of n rows and m columns.

constexpr int TILE = 32;

__global__ void transpose_naive(const float *in, float *out, int n, int m) {
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row >= n || col >= m) return;
    float value = in[row * m + col];
    out[col * n + row] = value;
}

// A tile is read along its rows and written along its columns, so that both sides of the copy are
// coalesced. PAD spare words in a row decide in which banks a column of the tile lies.
template <int PAD>
__device__ void transpose(const float *in, float *out, int n, int m) {
    __shared__ float tile[TILE][TILE + PAD];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    if (row < n && col < m) {
        float value = in[row * m + col];
        tile[ty][tx] = value;
    }
    __syncthreads();

    col = blockIdx.y * TILE + tx;
    row = blockIdx.x * TILE + ty;
    if (row < m && col < n) {
        float value = tile[tx][ty];
        out[row * n + col] = value;
    }
}

__global__ void transpose_tiled(const float *in, float *out, int n, int m) {
    transpose<0>(in, out, n, m);
}

__global__ void transpose_padded(const float *in, float *out, int n, int m) {
    transpose<1>(in, out, n, m);
}
