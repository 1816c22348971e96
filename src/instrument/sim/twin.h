// Twin: five constants fitted to a user's own curve, saved as a calibration file.
//
// Sites differ mostly in fixed costs: layer_s, step_s, sequence_s, request_s and weight_bandwidth.
// Each gets a factor from a least-squares fit of log TPOT and log TTFT, with a pull towards 1, so
// that a factor stays 1 where the points are too few to determine it (Gauss and Newton with
// differences of the whole simulation; lengths come from one seed, so it is a smooth function).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/simulate.h"

namespace assay::sim {

struct MeasuredPoint {
  std::uint32_t concurrency = 1;
  double ttft_ms_mean = 0;  // 0: unknown
  double tpot_ms_mean = 0;
  std::uint32_t queries_per_slot = 0;  // of its run; 0: unknown
  double system_tps = 0;               // output tokens a second; 0: unknown
};

// {"points": [{"concurrency", "tpot_ms_mean", "ttft_ms_mean"?, "system_tps"?}]}, as `assay simulate
// --json` writes it and `assay curve` in curve_summary.json; also tpot_ms and ttft_ms. Skips points
// that were not measured, and a dedicated Offline (a burst, no level).
Result<std::vector<MeasuredPoint>> read_measured(const Json& curve);

// What a fit without a point says of it: measured over simulated. 0: not measured.
struct HeldOut {
  double tpot = 0;
  double ttft = 0;
  double throughput = 0;
};

struct Twin {
  static constexpr std::size_t kFactors = 5;
  std::array<double, kFactors> factors{1, 1, 1, 1, 1};  // in the order of twin_constants()
  double tpot_error_before = 0;                         // median, a share
  double tpot_error_after = 0;
  double ttft_error_before = 0;
  double ttft_error_after = 0;
  double tpot_error_max = 0;  // of the worst point, after the fit
  double ttft_error_max = 0;
  std::vector<SimPoint> points{};   // of the twin, at the measured concurrencies
  std::vector<HeldOut> held_out{};  // of each point, by judge_held_out(); else empty
};
const std::array<std::string_view, Twin::kFactors>& twin_constants();

// The system at the measured points' concurrencies, each with its run's queries per slot.
std::vector<SimPoint> simulate_as_measured(const ClusterSpec& spec, const Workload& workload,
                                           const std::vector<MeasuredPoint>& measured);

// REQUIRES: measured is not empty. Six points or more determine all five factors.
Twin fit_twin(const ClusterSpec& spec, const Workload& workload,
              const std::vector<MeasuredPoint>& measured);

// The same from the factors of another fit, in few rounds.
Twin refit_twin(const ClusterSpec& spec, const Workload& workload,
                const std::vector<MeasuredPoint>& measured, const Twin& start);
// What a fit makes small: squares of the logarithms of simulated over measured, each by its usual
// size, and of the factors.
double misfit(const Twin& twin, const std::vector<MeasuredPoint>& measured);

// Sets twin.held_out: the points are left out in turn, a sixth of them at a time, and the other
// points' fit is asked for them. Fewer than four points: it stays empty.
void judge_held_out(const ClusterSpec& spec, const Workload& workload,
                    const std::vector<MeasuredPoint>& measured, Twin& twin);
// The median of |measured / simulated - 1| of a figure of the held-out points; 0: of none.
double held_out_error(const Twin& twin, double HeldOut::*figure);

// The system with the twin's factors.
ClusterSpec with_factors(ClusterSpec spec, const Twin& twin);

// The twin as a calibration file, for --catalogue: its constants, the load of its system, and the
// errors of the fit.
std::string twin_yaml(const ClusterSpec& spec, const Twin& twin, const MeasuredLoad& load,
                      const std::string& provenance);
// The file's family, for Calibration::compared.
ComparedFamily twin_family(const ClusterSpec& spec, const Twin& twin);

}  // namespace assay::sim
