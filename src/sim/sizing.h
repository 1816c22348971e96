// Sizing: how many accelerators serve a rate within limits: `assay simulate --plan`.
//
// One replica (a worker, or a prefill/decode group) is simulated under Poisson arrivals at rising
// rates; the highest rate whose P90s stay within the limits is its capacity. Replicas behind one
// router are not perfectly additive: each doubling keeps `scale_out` of the capacity (0.88 was
// measured offline and 0.67 under tail-latency limits from one rack to four; 0.95 is the default).
#pragma once

#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/simulate.h"

namespace assay::sim {

struct Slo {
  double ttft_ms_p90 = 0;  // 0: no limit
  double tpot_ms_p90 = 0;
  double latency_ms_p90 = 0;

  bool met(const SimPoint& point) const;
};
// "ttft=500ms,tpot=30ms,latency=10s"; a bare number counts milliseconds.
Result<Slo> parse_slo(std::string_view text);

struct SizingOptions {
  double scale_out = 0.95;
  double price_per_gpu_hour = 0;  // 0: not known
  std::uint64_t queries = 4000;   // of each trial
  std::uint64_t seed = 1;
};

struct Sizing {
  std::string layout{};
  unsigned gpus_per_replica = 0;
  double replica_qps = 0;  // what one replica holds within the limits; 0: none
  unsigned replicas = 0;
  unsigned gpus = 0;
  SimPoint at_capacity{};
  double dollars_per_million = 0;  // output tokens at the wanted rate; 0 when no price was given
};

// Of one replica as `spec` describes it.
Sizing size_for(const ClusterSpec& spec, const Workload& workload, const Slo& slo, double rate,
                const SizingOptions& options = {});

// Layouts worth trying where the user names none: tensor parallelism, attention DP with expert
// parallelism, and prefill/decode splits of both. Those that do not fit are left out.
std::vector<Scenario> candidate_layouts(const Catalogue& catalogue, const Scenario& scenario);

}  // namespace assay::sim
