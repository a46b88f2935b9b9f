// Copies announced with __pipeline_memcpy_async and not yet waited for.
#pragma once
#include <cstdint>

namespace sim {
void forget_async_copies();
// How many batches of copies a thread has closed; its next copy belongs to the one after these.
uint64_t committed_batches(int thread);
}
