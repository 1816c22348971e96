#include "sim/sizing.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {

bool Slo::met(const SimPoint& point) const {
  if (point.queries == 0 || point.refused > 0) return false;
  return std::ranges::all_of(limits, [&point](const SloLimit& limit) {
    return point.*limit.series.*limit.figure <= limit.ms;
  });
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
  const auto trial = [&](double qps) {
    const std::uint64_t queries = open_queries(spec, workload, qps, options.queries, how);
    return simulate_open(spec, workload, qps, queries, how);
  };
  const auto good = [&](const SimPoint& p, double qps) {
    return slo.met(p) && p.qps >= kKeepsUp * qps;
  };
  double low = 0;
  double high = 0.01;
  SimPoint best;
  for (int i = 0; i < 40; ++i) {
    const SimPoint p = trial(high);
    if (!good(p, high)) break;
    low = high;
    best = p;
    high *= 2;
  }
  for (int i = 0; low > 0 && i < 7; ++i) {
    const double middle = std::sqrt(low * high);
    const SimPoint p = trial(middle);
    if (good(p, middle)) {
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
  unsigned replicas = 1;
  const auto held = [&](unsigned n) {
    return n * low * std::pow(options.scale_out, std::log2(double{1} * n));
  };
  while (held(replicas) < rate && replicas < 1'000'000) ++replicas;
  out.replicas = replicas;
  out.gpus = replicas * out.gpus_per_replica;
  if (options.price_per_gpu_hour > 0) {
    const double tokens_per_hour = rate * best.output_tokens_mean * 3600;
    out.dollars_per_million = options.price_per_gpu_hour * out.gpus / tokens_per_hour * 1e6;
  }
  return out;
}

std::vector<Scenario> candidate_layouts(const Catalogue& catalogue, const Scenario& scenario) {
  std::vector<Scenario> out;
  const auto offer = [&](std::string parallel, std::string disagg) {
    Scenario one = scenario;
    one.gpus = 0;
    one.parallel = std::move(parallel);
    one.disagg = std::move(disagg);
    if (make_cluster_spec(catalogue, one)) out.push_back(std::move(one));
  };
  for (const unsigned n : {1U, 2U, 4U, 8U}) offer(format("tp={}", n), "");
  const auto model = catalogue.model(scenario.model);
  const auto hardware = catalogue.hardware(scenario.hardware);
  if (!model || !hardware || model->experts == 0) {
    offer("tp=8", "1P+1D");
    offer("tp=4", "1P+1D");
    return out;
  }
  offer("tp=8,ep=8", "");
  for (const unsigned n : {4U, 8U, 16U, 32U, 64U, 72U}) {
    if (n > hardware->scale_up_gpus_max) break;
    offer(format("tp=1,dp={}", n), "");
  }
  offer("tp=8,ep=8", "1P+1D");
  for (const unsigned prefill : {1U, 2U, 4U}) {
    for (const unsigned n : {8U, 32U}) {
      if (n > hardware->scale_up_gpus_max) continue;
      offer(format("tp=1,dp={}", n), format("{}P:tp=1,dp=8+1D:tp=1,dp={}", prefill, n));
    }
  }
  return out;
}

}  // namespace assay::sim
