// What kernels print.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

// As the GPU device's: enough to debug with, too little to drown a report.
constexpr size_t output_limit_bytes = 64 * 1024;
extern char output[output_limit_bytes];
extern size_t output_bytes;
extern bool output_cut;
void forget_output();

}  // namespace sim
