#include "sim/live_cluster.h"

#include <algorithm>
#include <cmath>

namespace assay::sim {

namespace {
ClusterSpec telling(ClusterSpec spec) {
  spec.every_token = true;
  return spec;
}
}  // namespace

LiveCluster::LiveCluster(ClusterSpec spec, const Scenario& scenario)
    : cluster_(telling(std::move(spec))), speedup_(scenario.speedup), faults_(scenario.faults) {
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const Fault& a, const Fault& b) { return a.at_s < b.at_s; });
}

Instant LiveCluster::inner(Instant outside) const {
  const auto since = static_cast<double>((outside - origin_).ns);
  return Instant{static_cast<std::int64_t>(std::floor(since * speedup_))};
}

// Rounds up, so that inner(outer(t)) is never before t.
Instant LiveCluster::outer(Instant inside) const {
  if (inside == Instant::max()) return inside;
  return origin_ +
         Duration{static_cast<std::int64_t>(std::ceil(static_cast<double>(inside.ns) / speedup_))} +
         1_ns;
}

void LiveCluster::admit(const Request& request, Instant now) {
  if (!origin_.known()) origin_ = now;
  cluster_.admit(request, inner(now));
}

void LiveCluster::cancel(std::uint64_t request, Instant now) {
  if (origin_.known()) cluster_.cancel(request, inner(now));
}

Instant LiveCluster::next() const {
  if (!origin_.known()) return Instant::max();
  Instant at = cluster_.next();
  // A fault matters only while requests exist; an idle system may apply it late.
  if (at != Instant::max() && fault_at_ < faults_.size()) {
    at = std::min(at, Instant{} + Duration::from_seconds(faults_[fault_at_].at_s));
  }
  return outer(at);
}

void LiveCluster::apply(const Fault& fault, Instant at) {
  switch (fault.kind) {
    case Fault::Kind::kill:
      cluster_.kill_worker(fault.worker, at);
      return;
    case Fault::Kind::revive:
      cluster_.revive_worker(fault.worker, at);
      return;
    case Fault::Kind::slow:
      cluster_.slow_worker(fault.worker, fault.factor, at);
      return;
    case Fault::Kind::shrink_kv:
      cluster_.shrink_kv(fault.worker, fault.factor, at);
      return;
  }
}

void LiveCluster::advance(Instant now, std::vector<Emission>& out) {
  if (!origin_.known()) return;
  const std::size_t first = out.size();
  const Instant until = inner(now);
  while (fault_at_ < faults_.size()) {
    const Fault& fault = faults_[fault_at_];
    const Instant at = Instant{} + Duration::from_seconds(fault.at_s);
    if (at > until) break;
    cluster_.advance(at, out);
    apply(fault, at);
    ++fault_at_;
  }
  cluster_.advance(until, out);
  for (std::size_t i = first; i < out.size(); ++i) out[i].at = std::min(now, outer(out[i].at));
  cluster_.take_served(served_);  // not used here: they must not pile up
}

}  // namespace assay::sim
