// The counters of a worker, and the /metrics page with their sums over all workers under vLLM's
// names, so that tools for vLLM work.
//
// One thread writes a WorkerStats; any thread may read it at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "domain/event.h"
#include "sim/engine.h"

namespace assay::endpoint {

// A counter with one writer.
class Count {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// A Prometheus histogram of seconds; `Bounds` is an array of upper bounds, ascending.
template <const auto& Bounds>
class SecondsHistogram {
 public:
  static constexpr std::size_t kBuckets = Bounds.size() + 1;  // the last: above all bounds
  void observe(Duration value) {
    const double seconds = value.seconds();
    std::size_t i = 0;
    while (i < Bounds.size() && seconds > Bounds[i]) ++i;
    buckets_[i].add(1);
    sum_ns_.add(static_cast<std::uint64_t>(value.ns < 0 ? 0 : value.ns));
  }
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].get(); }
  std::uint64_t sum_ns() const { return sum_ns_.get(); }

 private:
  std::array<Count, kBuckets> buckets_{};
  Count sum_ns_{};
};

// vLLM's bounds.
inline constexpr std::array kTtftBounds = {0.001, 0.005, 0.01, 0.02,  0.04,  0.06,  0.08, 0.1,
                                           0.25,  0.5,   0.75, 1.0,   2.5,   5.0,   7.5,  10.0,
                                           20.0,  40.0,  80.0, 160.0, 640.0, 2560.0};
inline constexpr std::array kItlBounds = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
                                          0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};
inline constexpr std::array kLatencyBounds = {0.3,  0.5,   0.8,   1.0,   1.5,   2.0,    2.5,
                                              5.0,  10.0,  15.0,  20.0,  30.0,  40.0,   50.0,
                                              60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};

struct WorkerStats {
  explicit WorkerStats(std::size_t fault_rates) : faults(fault_rates) {}

  Count requests{};  // for tokens, with any outcome
  Count served{};
  Count gone{};
  Count rejected{};
  Count connections{};
  Count prompt_tokens{};
  Count output_tokens{};
  Count events{};
  std::array<Count, kFinishReasons> finished{};
  std::vector<Count> faults;  // injected; in the order of FaultPlan::rates()
  // The engine's figures, a few milliseconds old.
  Count running{};
  Count waiting{};
  Count kv_usage_ppm{};
  Count prefix_hit_tokens{};
  Count prefix_query_tokens{};
  Count preemptions{};
  SecondsHistogram<kTtftBounds> ttft{};
  SecondsHistogram<kItlBounds> itl{};
  SecondsHistogram<kLatencyBounds> latency{};
  Histogram lateness_ns{};  // from planned to handed over

  void set_engine(const sim::EngineStats& engine);
};

std::string metrics_page(std::span<const WorkerStats* const> workers, std::string_view model);

}  // namespace assay::endpoint
