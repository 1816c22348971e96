#include "cli/simulate/simulate_curve.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/version.h"
#include "rulebook/regions.h"

namespace assay::cli {
namespace {

metrics::CurvePoint to_point(const sim::SimPoint& p) {
  metrics::CurvePoint out;
  out.concurrency = std::llround(p.concurrency > 0 ? p.concurrency : p.in_flight_mean);
  out.name = p.rate > 0 ? format("{}/s", p.rate) : format("r{}", out.concurrency);
  out.measured = p.queries > 0;
  out.run.system_tps = p.system_tps;
  if (p.tps_per_user > 0) out.run.tps_per_user = p.tps_per_user;
  out.run.qps = p.qps;
  out.run.ttft_p50_ms = p.ttft_ms.p50;
  out.run.ttft_p90_ms = p.ttft_ms.p90;
  out.run.ttft_p99_ms = p.ttft_ms.p99;
  out.run.tpot_p50_ms = p.tpot_ms.p50;
  out.run.tpot_p90_ms = p.tpot_ms.p90;
  out.run.tpot_p99_ms = p.tpot_ms.p99;
  out.run.latency_p50_ms = p.latency_ms.p50;
  out.run.latency_p90_ms = p.latency_ms.p90;
  out.run.latency_p99_ms = p.latency_ms.p99;
  out.run.completed = p.queries;
  out.run.failed = p.refused;
  if (p.watts_mean > 0) out.power_kw = p.watts_mean * 1e-3;
  return out;
}

}  // namespace

metrics::Curve to_curve(const SimulatedCurve& simulated) {
  metrics::Curve out;
  out.id = "simulated";
  out.simulated = true;
  out.model = simulated.model;
  out.endpoint = simulated.system;
  out.version = std::string(version());
  out.datasets = simulated.lengths;
  out.notes.push_back(
      "every figure is computed by a model, nothing was measured; its errors are in "
      "docs/guide/serving_model.md");
  out.notes.push_back("calibration: " + simulated.calibration);
  std::string said;
  for (const sim::SimPoint& point : simulated.points) {
    out.points.push_back(to_point(point));
    if (point.trust.says != said) out.notes.push_back("trust: " + point.trust.says);
    said = point.trust.says;
    if (!point.unsteady.empty()) {
      out.notes.push_back(
          format("{}: no steady state: {}", out.points.back().name, point.unsteady));
    }
    out.c_max = std::max(out.c_max, out.points.back().concurrency);
  }
  out.c_min = out.c_max;
  for (const metrics::CurvePoint& p : out.points) out.c_min = std::min(out.c_min, p.concurrency);
  if (const auto regions = rulebook::Regions::make(out.c_max, out.c_min)) {
    for (metrics::CurvePoint& p : out.points) {
      if (const auto region = regions->region_of(p.concurrency)) p.region = to_string(*region);
    }
  }
  return out;
}

}  // namespace assay::cli
