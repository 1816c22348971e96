#include "campaign/workload_verdict.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace assay::campaign {
namespace {

// The percentile that "ttft_ms_p99" names, in ms; nullopt without values. In an open loop a query's
// clock starts when it was due, as in LoadGen's Server.
std::optional<double> measured(const metrics::Point& point, std::string_view limit) {
  const auto at = limit.rfind("_ms_p");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view what = limit.substr(0, at);
  const std::string_view percent = limit.substr(at + 5);
  const double p = percent == "99.9" ? 99.9 : percent == "99" ? 99.0 : percent == "90" ? 90.0 : 0;
  if (p == 0) return std::nullopt;
  const bool open =
      std::any_of(point.run.phases.begin(), point.run.phases.end(), [](const PhaseInfo& phase) {
        return phase.kind == PhaseKind::performance && phase.open_loop;
      });
  const metrics::Latencies& all = point.arrival;
  const metrics::Distribution* series = nullptr;
  if (what == "ttft") series = open ? &all.ttft_due : &all.ttft;
  if (what == "tpot") series = &all.tpot;
  if (what == "latency") series = open ? &all.latency_due : &all.latency;
  if (series == nullptr || series->empty()) return std::nullopt;
  return series->percentile(p) / 1e6;
}

}  // namespace

std::vector<std::string> workload_verdict(const metrics::Point& point) {
  const Json& workload = point.run.facts["workload"];
  if (workload.is_null()) return {};
  std::vector<std::string> out;
  const std::string name = format("workload {}", workload["name"].as_string());
  for (const auto& [limit, value] : workload["limits"].members()) {
    const auto have = measured(point, limit);
    if (!have) {
      out.push_back(format("{}: {} not measured, limit {} ms", name, limit, value.as_double()));
      continue;
    }
    const bool met = *have <= value.as_double();
    out.push_back(format("{}: {} {:.1f} ms, limit {} ms: {}", name, limit, *have, value.as_double(),
                         met ? "met" : "NOT met"));
  }
  const std::uint64_t least = workload["queries_min"].as_uint(0);
  if (least > 0 && point.counts.completed < least) {
    out.push_back(format("{}: {} queries completed, the least is {}: NOT met", name,
                         point.counts.completed, least));
  }
  return out;
}

}  // namespace assay::campaign
