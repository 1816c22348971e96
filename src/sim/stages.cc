#include "sim/stages.h"

#include <algorithm>
#include <cmath>

namespace assay::sim {
namespace {

double service_seconds(const StageSpec& stage, const HardwareSpec& hardware, unsigned gpus) {
  if (stage.flops <= 0) return stage.seconds;
  const double each = hardware.flops_for("fp8") * stage.efficiency;
  return stage.flops / (each * (stage.all_gpus_together ? gpus : 1));
}

double draw(double mean, double cv, Rng& rng) {
  if (cv <= 0) return mean;
  const double variance = std::log1p(cv * cv);
  return mean * std::exp(std::sqrt(variance) * rng.normal() - 0.5 * variance);
}

struct Station {
  double seconds = 0;
  double cv = 0;
  bool latency_only = false;
  std::vector<double> free_at{};  // of each server

  // First in, first out, to the server that is free first.
  double serve(double at, Rng& rng) {
    const double takes = draw(seconds, cv, rng);
    if (latency_only) return at + takes;
    const auto server = std::min_element(free_at.begin(), free_at.end());
    *server = std::max(at, *server) + takes;
    return *server;
  }
};

}  // namespace

double stage_capacity(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus) {
  double least = 1e300;
  for (const StageSpec& stage : model.stages) {
    if (stage.latency_only) continue;
    const double servers = stage.every_gpu ? gpus : 1;
    least = std::min(least, servers * model.batch / service_seconds(stage, hardware, gpus));
  }
  return least;
}

SimPoint simulate_stages(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus,
                         double rate, std::uint64_t queries, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Station> stations;
  for (const StageSpec& stage : model.stages) {
    stations.push_back({service_seconds(stage, hardware, gpus), stage.cv, stage.latency_only,
                        std::vector<double>(stage.every_gpu ? gpus : 1, 0.0)});
  }
  SimPoint out;
  out.rate = rate;
  out.gpus = gpus;
  Histogram latencies;
  double sum = 0;
  double now = 0;
  double counted_from = 0;
  double last = 0;
  std::vector<double> batch;
  const std::uint64_t skipped = queries / 10;
  for (std::uint64_t i = 0; i < queries; ++i) {
    now = rate > 0 ? now + rng.exponential(1 / rate) : last;
    if (i == skipped) counted_from = now;
    batch.push_back(now);
    if (rate > 0 && batch.size() < model.batch && i + 1 < queries) continue;
    double at = now;
    for (Station& station : stations) at = station.serve(at, rng);
    last = std::max(last, at);
    for (const double arrived : batch) {
      if (i < skipped) continue;
      latencies.record(static_cast<std::uint64_t>((at - arrived) * 1e9));
      sum += at - arrived;
      ++out.queries;
    }
    batch.clear();
  }
  const double n = std::max(1.0, static_cast<double>(out.queries));
  out.latency_ms = {sum / n * 1e3, latencies.percentile(50) * 1e-6, latencies.percentile(90) * 1e-6,
                    latencies.percentile(99) * 1e-6};
  if (last > counted_from) out.qps = n / (last - counted_from);
  return out;
}

}  // namespace assay::sim
