// Sizing: how many accelerators serve a rate within limits, for `assay simulate --plan`.
//
// One replica (a worker, or a prefill/decode group) is simulated under Poisson arrivals at rising
// rates; the highest rate whose figures stay within the limits is its capacity. Replicas share
// nothing but their router, so n of them hold n times that: queries that are dealt in turn arrive
// at each more evenly than Poisson's. What a published system of four racks loses beside one (12 %
// offline, a third under limits) is not explained by any link, and is not in the figure.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/simulate.h"

namespace assay::sim {

struct SloLimit {
  SimSeries SimPoint::*series = nullptr;
  double SimSeries::*figure = nullptr;
  double ms = 0;
};

struct Slo {
  std::vector<SloLimit> limits{};

  bool met(const SimPoint& point) const;
  double tpot_s() const;  // the least limit on TPOT; without one, more than any system takes
};
// "ttft_p99=500ms,tpot_p90=30ms,latency_mean=10s": p50, p90, p99 or mean; without one P90 is meant.
// A bare number counts milliseconds.
Result<Slo> parse_slo(std::string_view text);

struct SizingOptions {
  double price_per_gpu_hour = 0;  // 0: not known
  std::uint64_t queries = 4000;   // of each trial, at least
  double edge = 1.006;            // how near the rate that holds is to one that does not
  double first_qps = 0;           // where the search begins; 0: nothing is known
  std::uint64_t seed = 1;
};

struct Sizing {
  std::string layout{};
  Trust trust{};  // at capacity; of the layout if no capacity was found
  unsigned gpus_per_replica = 0;
  double replica_qps = 0;  // one replica's rate within the limits; 0: none
  unsigned replicas = 0;
  unsigned gpus = 0;
  SimPoint at_capacity{};
  double dollars_per_million = 0;  // output tokens at the wanted rate; 0 when no price was given
};

// The size with replicas as `spec` describes them.
Sizing size_for(const ClusterSpec& spec, const Workload& workload, const Slo& slo, double rate,
                const SizingOptions& options = {});

}  // namespace assay::sim
