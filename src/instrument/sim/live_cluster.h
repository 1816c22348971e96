// LiveCluster: a Cluster on another clock: its own time starts at the first request and runs
// `speedup` times as fast, and faults happen when the scenario says so. `assay endpoint --scenario`
// serves it. One thread.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/scenario.h"

namespace assay::sim {

class LiveCluster final : public Engine {
 public:
  // REQUIRES: scenario.speedup > 0 and the faults' workers exist (make_cluster_spec checks).
  LiveCluster(ClusterSpec spec, const Scenario& scenario);

  void admit(const Request& request, Instant now) override;
  void cancel(std::uint64_t request, Instant now) override;
  Instant next() const override;
  void advance(Instant now, std::vector<Emission>& out) override;
  EngineStats stats() const override { return cluster_.stats(); }
  const Cluster& cluster() const { return cluster_; }

 private:
  Instant inner(Instant outside) const;
  Instant outer(Instant inside) const;
  void apply(const Fault& fault, Instant at);

  Cluster cluster_;
  double speedup_;
  std::vector<Fault> faults_;  // in order of time
  std::size_t fault_at_ = 0;
  Instant origin_ = Instant::none();
  std::vector<Served> served_{};
};

}  // namespace assay::sim
