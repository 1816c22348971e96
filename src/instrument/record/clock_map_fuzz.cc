// Any bytes as the clocks of a merged run (clocks.json): refused, or clocks whose offset lies
// within limits that no probe contradicts, and that are written and read again unchanged.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "record/clock_map.h"

namespace {

using assay::Duration;
using assay::Instant;
using assay::record::ClockMap;
using assay::record::ClockProbe;

void look_at(const ClockMap& map, const std::vector<ClockProbe>& probes) {
  Duration most{};
  for (const ClockProbe& probe : probes) {
    for (const Instant at : {probe.asked, probe.heard}) {
      CHECK(map.bound(at) >= Duration{});
      most = std::max(most, map.bound(at));
    }
  }
  CHECK(map.bound_max(probes.front().asked, probes.front().heard) <= most + Duration{1} ||
        probes.size() > 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = assay::Json::parse(text);
  if (!json) return 0;
  const auto ranks = assay::record::rank_clocks_from_json(*json);
  if (!ranks) return 0;
  const auto again = assay::record::rank_clocks_from_json(assay::record::to_json(*ranks));
  CHECK(again.has_value() && to_json(*again).dump() == to_json(*ranks).dump());
  for (const auto& rank : *ranks) {
    if (rank.probes.empty()) continue;
    const auto map = ClockMap::make(rank.probes);
    if (map) look_at(*map, rank.probes);
  }
  return 0;
}
