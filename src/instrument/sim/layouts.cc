#include "sim/layouts.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/format.h"
#include "sim/fluid.h"

namespace assay::sim {
namespace {

constexpr std::size_t kSimulated = 4;  // how many of the leading layouts are simulated
constexpr std::array<unsigned, 10> kWidths{1, 2, 4, 8, 16, 24, 32, 36, 64, 72};
constexpr unsigned kTensorWidthMax = 8;

class Offers {
 public:
  Offers(const Catalogue& catalogue, const Scenario& scenario)
      : catalogue_(catalogue), scenario_(scenario) {}

  void one(std::string parallel, std::string disagg, std::uint32_t gpus) {
    Scenario scenario = scenario_;
    scenario.gpus = gpus;
    scenario.parallel = std::move(parallel);
    scenario.disagg = std::move(disagg);
    if (make_cluster_spec(catalogue_, scenario)) out_.push_back(std::move(scenario));
  }
  bool any() const { return !out_.empty(); }
  std::vector<Scenario> take() { return std::move(out_); }

 private:
  const Catalogue& catalogue_;
  const Scenario& scenario_;
  std::vector<Scenario> out_{};
};

// Layouts of one worker with `width` accelerators.
std::vector<std::string> workers_of(unsigned width, bool experts) {
  std::vector<std::string> out;
  if (width <= kTensorWidthMax) out.push_back(format("tp={}", width));
  if (!experts || width < 2) return out;
  if (width <= kTensorWidthMax) out.push_back(format("tp={0},ep={0}", width));
  out.push_back(format("tp=1,dp={}", width));
  if (width >= 8) out.push_back(format("tp=2,dp={}", width / 2));
  return out;
}

// The most accelerators that are split into prefill and decode as one part, so that KV stays in a
// rack; a larger system is several equal parts.
unsigned part_of(unsigned gpus, const HardwareSpec& hardware) {
  unsigned rack = hardware.scale_up_gpus_max;
  for (const NetworkTier& tier : hardware.network) rack = std::max(rack, tier.gpus_max);
  unsigned out = std::min(gpus, rack);
  while (out > 1 && gpus % out != 0) --out;
  return out;
}

// Prefill workers p of `np` and decode workers d of `nd` accelerators: all of `gpus`, or, without a
// number, a few usual splits.
std::vector<std::pair<unsigned, unsigned>> splits(unsigned gpus, unsigned np, unsigned nd,
                                                  const HardwareSpec& hardware) {
  std::vector<std::pair<unsigned, unsigned>> out;
  if (gpus == 0) {
    for (const unsigned p : {1U, 2U, 4U}) out.emplace_back(p, 1U);
    return out;
  }
  const unsigned part = part_of(gpus, hardware);
  for (unsigned d = 1; d * nd < part; ++d) {
    const unsigned left = part - d * nd;
    if (left % np == 0) out.emplace_back(left / np * (gpus / part), d * (gpus / part));
  }
  return out;
}

constexpr double kUnbounded = 1e12;
constexpr double kInFlightMax = 1e6;

void sort_by_throughput(std::vector<LaidOut>& layouts) {
  std::ranges::stable_sort(layouts, [](const LaidOut& a, const LaidOut& b) {
    return a.point.system_tps > b.point.system_tps;
  });
}

struct Ranked {
  double figure = 0;
  const Scenario* scenario = nullptr;
};

std::vector<Scenario> leading(const Catalogue& catalogue, const std::vector<Scenario>& layouts,
                              std::size_t count,
                              const std::function<double(const ClusterSpec&)>& figure) {
  std::vector<Ranked> ranked;
  for (const Scenario& layout : layouts) {
    const auto spec = make_cluster_spec(catalogue, layout);
    if (spec) ranked.push_back({figure(*spec), &layout});
  }
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &Ranked::figure);
  std::vector<Scenario> out;
  for (const Ranked& one : ranked) {
    if (out.size() == count) break;
    if (one.figure > 0 || out.empty()) out.push_back(*one.scenario);
  }
  return out;
}

}  // namespace

std::vector<Scenario> layouts_of(const Catalogue& catalogue, const Scenario& scenario, bool apart) {
  if (!scenario.parallel.empty() || !scenario.disagg.empty()) return {scenario};
  const auto model = catalogue.model(scenario.model);
  const auto hardware = catalogue.hardware(scenario.hardware);
  if (!model || !hardware) return {};
  const bool experts = model->experts > 0;
  Offers offers(catalogue, scenario);
  for (const unsigned width : kWidths) {
    if (scenario.gpus > 0 && scenario.gpus % width != 0) continue;
    for (std::string& worker : workers_of(width, experts)) {
      offers.one(std::move(worker), "", scenario.gpus);
    }
    // Without a number of accelerators the fewest are meant.
    if (scenario.gpus == 0 && !apart && offers.any()) break;
  }
  if (!apart) return offers.take();
  for (const unsigned np : {1U, 2U, 4U, 8U}) {
    for (const std::string& prefill : workers_of(np, experts)) {
      for (const unsigned nd : kWidths) {
        for (const std::string& decode : workers_of(nd, experts)) {
          for (const auto& [p, d] : splits(scenario.gpus, np, nd, *hardware)) {
            offers.one(decode, format("{}P:{}+{}D:{}", p, prefill, d, decode), scenario.gpus);
          }
        }
      }
    }
  }
  return offers.take();
}

std::vector<Scenario> leading_at(const Catalogue& catalogue, const std::vector<Scenario>& layouts,
                                 const Workload& workload, double concurrency, std::size_t count) {
  const MeanLoad load = mean_load(workload);
  return leading(catalogue, layouts, count, [&](const ClusterSpec& spec) {
    return fluid_at(spec, load, concurrency).tokens_per_s;
  });
}

std::vector<Scenario> leading_within(const Catalogue& catalogue,
                                     const std::vector<Scenario>& layouts, const Workload& workload,
                                     double tpot_s, std::size_t count) {
  const MeanLoad load = mean_load(workload);
  return leading(catalogue, layouts, count, [&](const ClusterSpec& spec) {
    return fluid_within(spec, load, tpot_s).tokens_per_s / spec.gpus();
  });
}

LayoutSearch best_at(const Catalogue& catalogue, const Scenario& scenario, const Workload& workload,
                     std::uint32_t concurrency, const SimulateOptions& options) {
  const auto layouts = layouts_of(catalogue, scenario, false);
  LayoutSearch out{.fit = layouts.size()};
  for (const Scenario& one : leading_at(catalogue, layouts, workload, concurrency, kSimulated)) {
    const auto spec = make_cluster_spec(catalogue, one);
    if (!spec || queries_computed(*spec, workload, concurrency, options) > kQueriesMax) continue;
    out.best.push_back({one, simulate_closed(*spec, workload, concurrency, options)});
  }
  sort_by_throughput(out.best);
  return out;
}

LayoutSearch best_offline(const Catalogue& catalogue, const Scenario& scenario,
                          const Workload& workload, bool apart, const SimulateOptions& options) {
  const auto layouts = layouts_of(catalogue, scenario, apart);
  const MeanLoad mean = mean_load(workload);
  LayoutSearch out{.fit = layouts.size()};
  SimulateOptions parts = options;
  parts.apart_once = true;
  for (const Scenario& one : leading_at(catalogue, layouts, workload, kUnbounded, kSimulated)) {
    const ClusterSpec spec = *make_cluster_spec(catalogue, one);
    const double full = in_flight(fluid_at(spec, mean, kUnbounded));
    LaidOut laid{.scenario = one};
    for (const double share : {0.5, 1.0, 1.5}) {
      const auto c = static_cast<std::uint32_t>(std::clamp(share * full, 1.0, kInFlightMax));
      if (queries_computed(spec, workload, c, parts) > kQueriesMax) break;
      const SimPoint point = simulate_closed(spec, workload, c, parts);
      if (point.system_tps > laid.point.system_tps) laid.point = point;
    }
    out.best.push_back(std::move(laid));
  }
  sort_by_throughput(out.best);
  return out;
}

LayoutSearch best_within(const Catalogue& catalogue, const Scenario& scenario,
                         const Workload& workload, const Slo& slo, bool apart,
                         const SimulateOptions& options) {
  const double tpot_s = slo.tpot_s();
  const auto layouts = layouts_of(catalogue, scenario, apart);
  const MeanLoad mean = mean_load(workload);
  LayoutSearch out{.fit = layouts.size()};
  for (const Scenario& one : leading_within(catalogue, layouts, workload, tpot_s, kSimulated)) {
    const ClusterSpec spec = *make_cluster_spec(catalogue, one);
    SizingOptions sizing{.queries = 2000, .edge = 1.02, .seed = options.seed};
    sizing.first_qps = fluid_within(spec, mean, tpot_s).tokens_per_s / mean.output;
    out.best.push_back({one, size_for(spec, workload, slo, 0, sizing).at_capacity});
  }
  sort_by_throughput(out.best);
  return out;
}

}  // namespace assay::sim
