#include "sim/stages.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/format.h"

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

  // First in, first out, on the server that is free first.
  double serve(double at, Rng& rng) {
    const double takes = draw(seconds, cv, rng);
    if (latency_only) return at + takes;
    const auto server = std::min_element(free_at.begin(), free_at.end());
    *server = std::max(at, *server) + takes;
    return *server;
  }
};

std::vector<Station> stations_of(const ModelSpec& model, const HardwareSpec& hardware,
                                 unsigned gpus) {
  std::vector<Station> out;
  for (const StageSpec& stage : model.stages) {
    out.push_back({service_seconds(stage, hardware, gpus), stage.cv, stage.latency_only,
                   std::vector<double>(stage.every_gpu ? gpus : 1, 0.0)});
  }
  return out;
}

// When a batch that leaves at that instant has passed all stages.
double through(std::vector<Station>& stations, double at, Rng& rng) {
  for (Station& station : stations) at = station.serve(at, rng);
  return at;
}

class Latencies {
 public:
  void add(double seconds) {
    buckets_.record(static_cast<std::uint64_t>(seconds * 1e9));
    sum_ += seconds;
    ++count_;
  }
  double sum() const { return sum_; }
  std::uint64_t count() const { return count_; }
  SimSeries series() const {
    const double n = std::max(1.0, static_cast<double>(count_));
    return {sum_ / n * 1e3, buckets_.percentile(50) * 1e-6, buckets_.percentile(90) * 1e-6,
            buckets_.percentile(99) * 1e-6};
  }

 private:
  Histogram buckets_{};
  double sum_ = 0;
  std::uint64_t count_ = 0;
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
  std::vector<Station> stations = stations_of(model, hardware, gpus);
  SimPoint out;
  out.rate = rate;
  out.gpus = gpus;
  out.trust = trust_of_stages(model.name, hardware.name);
  Latencies latencies;
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
    const double at = through(stations, now, rng);
    last = std::max(last, at);
    for (const double arrived : batch) {
      if (i >= skipped) latencies.add(at - arrived);
    }
    batch.clear();
  }
  out.queries = latencies.count();
  out.latency_ms = latencies.series();
  if (last > counted_from) out.qps = static_cast<double>(out.queries) / (last - counted_from);
  out.in_flight_mean = out.qps * out.latency_ms.mean * 1e-3;
  if (rate > 0 && out.qps < kKeepsUp * rate) {
    out.unsteady = format("{:.4g} of {:.4g} queries/s are served: the queue grows", out.qps, rate);
  }
  return out;
}

SimPoint simulate_stages_closed(const ModelSpec& model, const HardwareSpec& hardware, unsigned gpus,
                                std::uint32_t concurrency, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Station> stations = stations_of(model, hardware, gpus);
  SimPoint out;
  out.concurrency = concurrency;
  out.gpus = gpus;
  out.trust = trust_of_stages(model.name, hardware.name);
  Latencies latencies;
  // When each slot sends its next query; queries of an unfinished batch wait in `batch`.
  std::priority_queue<double, std::vector<double>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < concurrency; ++i) ready.push(0);
  std::vector<double> batch;
  const std::uint64_t skipped = std::uint64_t{2} * concurrency;
  const std::uint64_t wanted =
      skipped + std::max<std::uint64_t>(1000, std::uint64_t{10} * concurrency);
  for (std::uint64_t ended = 0; ended < wanted;) {
    const double now = ready.top();
    batch.push_back(now);
    ready.pop();
    if (batch.size() < model.batch && !ready.empty()) continue;
    const double at = through(stations, now, rng);
    for (const double sent : batch) {
      if (ended++ >= skipped) latencies.add(at - sent);
      ready.push(at);
    }
    batch.clear();
  }
  out.queries = latencies.count();
  out.latency_ms = latencies.series();
  // Every slot is always in use: Little's law.
  if (latencies.sum() > 0) {
    out.qps = concurrency * static_cast<double>(out.queries) / latencies.sum();
  }
  out.in_flight_mean = concurrency;
  return out;
}

}  // namespace assay::sim
