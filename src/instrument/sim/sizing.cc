#include "sim/sizing.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

constexpr double kSlowest = 0.01;  // queries a second, the least that is tried
constexpr double kReplicasMax = 1e6;

}  // namespace

bool Slo::met(const SimPoint& point) const {
  if (point.queries == 0 || point.refused > 0) return false;
  return std::ranges::all_of(limits, [&point](const SloLimit& limit) {
    return point.*limit.series.*limit.figure <= limit.ms;
  });
}

double Slo::tpot_s() const {
  double out = 1e9;
  for (const SloLimit& limit : limits) {
    if (limit.series == &SimPoint::tpot_ms) out = std::min(out, limit.ms * 1e-3);
  }
  return out;
}

Result<Slo> parse_slo(std::string_view text) {
  struct Series {
    std::string_view name{};
    SimSeries SimPoint::*member = nullptr;
  };
  struct Figure {
    std::string_view name{};
    double SimSeries::*member = nullptr;
  };
  static constexpr Series kSeries[] = {{"ttft", &SimPoint::ttft_ms},
                                       {"tpot", &SimPoint::tpot_ms},
                                       {"latency", &SimPoint::latency_ms}};
  static constexpr Figure kFigures[] = {{"", &SimSeries::p90},
                                        {"_p50", &SimSeries::p50},
                                        {"_p90", &SimSeries::p90},
                                        {"_p99", &SimSeries::p99},
                                        {"_mean", &SimSeries::mean}};
  Slo out;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return invalid(format("--plan: '{}' is not of the form ttft_p99=500ms,tpot_p99=30ms", part));
    }
    std::string_view key = trim(part.substr(0, equals));
    if (key.ends_with('<')) key = trim(key.substr(0, key.size() - 1));  // ttft_p99<=500ms
    const auto value = parse_duration(trim(part.substr(equals + 1)), 1_ms);
    if (!value) return value.error().within("--plan");
    if (value->ns <= 0) return invalid(format("--plan: {}: must be above 0", key));
    SloLimit limit{.ms = value->ms()};
    for (const Series& series : kSeries) {
      for (const Figure& figure : kFigures) {
        if (lower(key) != std::string(series.name) + std::string(figure.name)) continue;
        limit.series = series.member;
        limit.figure = figure.member;
      }
    }
    if (limit.series == nullptr) {
      return invalid(format(
          "--plan: unknown limit '{}'; ttft, tpot or latency, with _p50, _p90, _p99 or _mean",
          key));
    }
    out.limits.push_back(limit);
  }
  return out;
}

Sizing size_for(const ClusterSpec& spec, const Workload& workload, const Slo& slo, double rate,
                const SizingOptions& options) {
  Sizing out;
  out.layout = describe(spec);
  out.trust = spec.deployment.trust;
  out.gpus_per_replica = spec.gpus();
  SimulateOptions how;
  how.seed = options.seed;
  const auto met = [&](const SimPoint& p) { return slo.met(p); };
  const auto trial = [&](double qps) {
    return simulate_open_long(spec, workload, qps, options.queries, how, met);
  };
  const auto good = [&](const SimPoint& p) { return met(p) && p.served_share >= kKeepsUpLong; };
  // The edge is between `low`, which is good or 0, and `high`, which is not.
  double low = 0;
  double high = 0;
  SimPoint best;
  double next = options.first_qps > 0 ? options.first_qps : kSlowest;
  for (int i = 0; i < 40 && (low <= 0 || high <= 0) && next >= kSlowest / 2; ++i) {
    const SimPoint p = trial(next);
    if (good(p)) {
      low = next;
      best = p;
      next *= options.first_qps > 0 ? 1.25 : 2;
    } else {
      high = next;
      next /= options.first_qps > 0 ? 1.6 : 2;
    }
  }
  while (low > 0 && high / low > options.edge) {
    const double middle = std::sqrt(low * high);
    const SimPoint p = trial(middle);
    if (good(p)) {
      low = middle;
      best = p;
    } else {
      high = middle;
    }
  }
  out.replica_qps = low;
  out.at_capacity = best;
  if (low > 0) out.trust = best.trust;
  if (low <= 0) return out;
  out.replicas = static_cast<unsigned>(std::clamp(std::ceil(rate / low), 1.0, kReplicasMax));
  out.gpus = out.replicas * out.gpus_per_replica;
  if (options.price_per_gpu_hour > 0) {
    const double tokens_per_hour = rate * best.output_tokens_mean * 3600;
    out.dollars_per_million = options.price_per_gpu_hour * out.gpus / tokens_per_hour * 1e6;
  }
  return out;
}

}  // namespace assay::sim
