// Asynchronous copies to shared memory. A copy is made when it is waited for, not before:
// a kernel that uses a stage too early must not pass by luck.
#pragma once
#include "cuda_runtime.h"

extern "C" {
void __pipeline_memcpy_async(void *to_shared, const void *from_global, size_t bytes,
                             size_t zero_filled = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t later_commits);
}
