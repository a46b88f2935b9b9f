#include "output.hpp"

namespace sim {
char output[output_limit_bytes];
size_t output_bytes;
bool output_cut;
void forget_output() {
    output_bytes = 0;
    output_cut = false;
}
}  // namespace sim
