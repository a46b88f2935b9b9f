#include "warp_access.hpp"

#include <algorithm>

namespace sim {

namespace {

constexpr uint32_t banks = 32, sector_bytes = 32;

int distinct(uint32_t *values, int count) {
    if (!std::is_sorted(values, values + count)) std::sort(values, values + count);
    return (int)(std::unique(values, values + count) - values);
}

// Whether each pair of active lanes that differ in bit `bit` of their number share one address.
bool pairs_agree(const WarpAccess &access, int bit) {
    for (int lane = 0; lane < warp_lanes; ++lane) {
        int partner = lane ^ bit;
        bool both = (access.active >> lane & 1u) && (access.active >> partner & 1u);
        if (both && access.offset[lane] != access.offset[partner]) return false;
    }
    return true;
}

// Lanes served together: a whole warp for 4 bytes, half or a quarter of it for wider accesses, and
// twice as many where neighbouring lanes of a load agree.
int group_lanes(const WarpAccess &access) {
    int lanes = warp_lanes / (int)std::max(access.bytes / 4, 1u);
    bool wide_load = access.bytes > 4 && !access.write;
    if (wide_load && (pairs_agree(access, 1) || pairs_agree(access, 2))) lanes *= 2;
    return lanes;
}

// Whether no bank holds two different words, as in most requests.
bool each_bank_once(const uint32_t *words, int count) {
    uint32_t seen = 0, word_of[banks];
    for (int index = 0; index < count; ++index) {
        uint32_t bank = words[index] % banks;
        if ((seen >> bank & 1u) && word_of[bank] != words[index]) return false;
        seen |= 1u << bank;
        word_of[bank] = words[index];
    }
    return true;
}

// The distinct words of the busiest bank among `count` words, at least one.
uint32_t busiest_bank(uint32_t *words, int count) {
    if (each_bank_once(words, count)) return 1;
    uint32_t load[banks] = {}, most = 0;
    count = distinct(words, count);
    for (int index = 0; index < count; ++index) {
        most = std::max(most, ++load[words[index] % banks]);
    }
    return most;
}

}  // namespace

GlobalCost global_cost(const WarpAccess &access) {
    uint32_t sectors[warp_lanes * 2], elements[warp_lanes * 4];
    uint32_t element_bytes = std::min(access.bytes, 4u);
    int sector_count = 0, count = 0;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (!(access.active >> lane & 1u)) continue;
        uint32_t first = access.offset[lane], last = first + access.bytes - 1;
        sectors[sector_count++] = first / sector_bytes;
        if (last / sector_bytes != first / sector_bytes) {
            sectors[sector_count++] = last / sector_bytes;
        }
        for (uint32_t at = first; at <= last; at += element_bytes) {
            elements[count++] = at / element_bytes;
        }
    }
    uint32_t bytes = (uint32_t)distinct(elements, count) * element_bytes;
    return {(uint32_t)distinct(sectors, sector_count), (bytes + sector_bytes - 1) / sector_bytes};
}

SharedCost shared_cost(const WarpAccess &access) {
    int lanes = group_lanes(access);
    SharedCost cost{0, 0, (uint32_t)lanes};
    for (int first = 0; first < warp_lanes; first += lanes) {
        uint32_t words[warp_lanes * 4];
        int count = 0;
        for (int lane = first; lane < first + lanes; ++lane) {
            if (!(access.active >> lane & 1u)) continue;
            for (uint32_t at = 0; at < access.bytes; at += 4) {
                words[count++] = (access.offset[lane] + at) / 4;
            }
        }
        if (count == 0) continue;
        cost.wavefronts += busiest_bank(words, count);
        ++cost.ideal_wavefronts;
    }
    return cost;
}

}  // namespace sim
