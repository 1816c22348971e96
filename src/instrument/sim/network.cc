#include "sim/network.h"

#include <algorithm>
#include <vector>

namespace assay::sim {
namespace {

// A tier that a group of `width` needs.
struct UsedTier {
  double gpus = 0;  // of the group, that it joins
  double bytes_per_s = 0;
  double latency_s = 0;
};

std::vector<UsedTier> used_tiers(const HardwareSpec& hardware, unsigned width,
                                 double scale_up_share) {
  const unsigned inside = std::min(width, hardware.scale_up_gpus_max);
  std::vector<UsedTier> out{
      {double{1} * inside, scale_up_share * hardware.link(inside).bytes_per_s, 0}};
  for (const NetworkTier& tier : hardware.network) {
    if (out.back().gpus >= width) break;
    const unsigned joins = tier.gpus_max == 0 ? width : std::min(width, tier.gpus_max);
    out.push_back({double{1} * joins, tier.share * tier.link.bytes_per_s, tier.link.latency_s});
  }
  return out;
}

}  // namespace

CollectiveTime all_to_all(const HardwareSpec& hardware, unsigned width, unsigned ranks,
                          double bytes, double scale_up_share) {
  CollectiveTime out;
  if (ranks == 1) return out;
  double below = 1;
  for (const UsedTier& tier : used_tiers(hardware, width, scale_up_share)) {
    const double joined = std::max(below, ranks * tier.gpus / width);
    out.token_s += bytes * (joined - below) / (ranks - 1.0) / tier.bytes_per_s;
    out.fixed_s = 2 * tier.latency_s;
    below = joined;
  }
  return out;
}

CollectiveTime all_reduce(const HardwareSpec& hardware, unsigned width, double bytes,
                          double scale_up_share) {
  CollectiveTime out;
  double below = 1;
  for (const UsedTier& tier : used_tiers(hardware, width, scale_up_share)) {
    const double groups = tier.gpus / below;
    out.token_s += 2 * bytes / below * (groups - 1) / groups / tier.bytes_per_s;
    out.fixed_s = 2 * tier.latency_s;
    below = tier.gpus;
  }
  return out;
}

}  // namespace assay::sim
