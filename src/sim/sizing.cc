#include "sim/sizing.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

bool within(double limit, double value) { return limit <= 0 || value <= limit; }

}  // namespace

bool Slo::met(const SimPoint& point) const {
  return point.queries > 0 && point.refused == 0 && within(ttft_ms_p90, point.ttft_ms.p90) &&
         within(tpot_ms_p90, point.tpot_ms.p90) && within(latency_ms_p90, point.latency_ms.p90);
}

Result<Slo> parse_slo(std::string_view text) {
  Slo out;
  for (const std::string_view part : split(text, ',')) {
    const auto sides = split(trim(part), '=');
    if (sides.size() != 2) {
      return invalid(format("plan: '{}' is not of the form ttft=500ms,tpot=30ms", part));
    }
    const auto value = parse_duration(trim(sides[1]), 1_ms);
    if (!value) return value.error().within("plan");
    if (value->ns <= 0) return invalid(format("plan: {}: must be above 0", sides[0]));
    const std::string key = lower(trim(sides[0]));
    if (key == "ttft") {
      out.ttft_ms_p90 = value->ms();
    } else if (key == "tpot") {
      out.tpot_ms_p90 = value->ms();
    } else if (key == "latency") {
      out.latency_ms_p90 = value->ms();
    } else {
      return invalid(format("plan: unknown limit '{}'; one of: ttft, tpot, latency", key));
    }
  }
  return out;
}

Sizing size_for(const ClusterSpec& spec, const Workload& workload, const Slo& slo, double rate,
                const SizingOptions& options) {
  Sizing out;
  out.layout = describe(spec);
  out.gpus_per_replica = spec.gpus();
  SimulateOptions how;
  how.seed = options.seed;
  const double alone_s = simulate_closed(spec, workload, 1, how).latency_ms.mean * 1e-3;
  // Long against one query's latency, so that what is left at the end does not count.
  const auto trial = [&](double qps) {
    const double queries =
        std::clamp(40 * qps * alone_s, static_cast<double>(options.queries), 2e5);
    return simulate_open(spec, workload, qps, static_cast<std::uint64_t>(queries), how);
  };
  // A system that keeps up serves as fast as it is asked; one that does not has a queue that grows.
  const auto good = [&](const SimPoint& p, double qps) { return slo.met(p) && p.qps > 0.85 * qps; };
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
  for (const unsigned n : {4U, 8U, 16U, 32U, 64U}) {
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
