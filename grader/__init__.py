"""Autograded CUDA matrix multiplication."""

import os

# Read by NumPy's OpenBLAS when it is loaded. Its threads, one for each core, wait busily between
# products: they take the cores from kernels that are simulated, and from other gradings beside.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
