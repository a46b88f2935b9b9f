// Copies announced with __pipeline_memcpy_async and not yet waited for.
#pragma once
namespace sim {
void forget_async_copies();
}
