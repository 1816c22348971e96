// Steady state: the part of a run that is level enough to be its result (rules v1.0, steady-state
// window). A super-pass is a block of queries, in the order of issue, as long as the dataset. The
// window consists of whole super-passes, so it has every sample equally often and ends before the
// drain without a crop at its end.
//
// The gating metrics are TPOT P50 and P90. Replies that have none (vectors, pictures, tensors, or
// text that is not streamed) are gated by latency P90 and the completion rate instead, and latency
// stands for TPOT in what follows. A closed loop completes in bursts where replies take equally
// long. So the time of a block's end is the mean over as many completions as the loop has slots:
// that counts each slot once, and a burst cut in two changes no rate.
//
// How the window is found:
//   1. Ramp. Quarters of super-passes whose TPOT P50 is off the back half's median are cropped from
//      the front, up to half of the run; the window starts with the next whole super-pass.
//   2. Level. TPOT P50 and P90 of some 100 blocks: a Plateau gains less than 5 % over the window
//      (Theil and Sen's line), a gain of 8 % lies more than three standard errors away, and
//      super-passes vary by 8 % at most. A cropped start must be a ramp: steeper than what follows.
//   3. If the rest is not level, up to half of the run may go to a slower ramp.
//   4. Else a step: Pettitt's test, where two levels fit better than a line. The first level is the
//      window, and the shift is reported (anomaly).
//   5. Else a drift: Mann-Kendall with Hamed and Rao's correction (α = 0.05) and 5 % or more. No
//      number stands for a drifting metric, only its range.
// Any other run is "not found". Between 5 % and 8 % a slow drift may be called either way;
// beyond, none in the tests' 1,000 seeds was called steady.
//
// Times in ns. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/event.h"
#include "metrics/distribution.h"
#include "metrics/token_counts.h"

namespace assay::metrics {

inline constexpr std::uint64_t kSuperPassesMin = 4;

// One query in the order of issue.
struct Issued {
  Instant sent = Instant::none();
  double tpot = 0;  // ns; 0: has none
  double ttft = 0;
  double latency = 0;
  Instant done = Instant::none();
  std::int32_t tokens = -1;
  std::uint32_t units = 0;  // asked for: inputs, pictures, choices
  double sound_s = 0;       // that the reply brought, where its length is known
  bool ok = false;
};

// The detector's input for an ended query, with its tokens as the run counts them.
Issued issued_of(const Event& event, const TokenCount& count);

enum class WindowStatus : std::uint8_t {
  windowable,
  insufficient_duration,
  insufficient_passes,
  partial_dataset,
};
std::string_view to_string(WindowStatus status);

enum class SteadyVerdict : std::uint8_t { steady, drifting_up, drifting_down, anomaly, not_found };
std::string_view to_string(SteadyVerdict verdict);  // as point.yaml spells it: "STEADY STATE"

enum class Level : std::uint8_t { plateau, drifting_up, drifting_down, unknown };
std::string_view to_string(Level level);  // "Plateau"

enum class Gating : std::uint8_t { tpot, latency };

// One gating metric over the window; without a window, over all that follows the ramp.
struct GatingMetric {
  std::string name{};  // "tpot_p50"
  Level level = Level::unknown;
  double drift = 0;  // relative, over the window
  double drift_error = 0;
  double p_value = 1;
  double variation = 0;  // of the super-passes
  double low = 0;        // the least and the largest block, ns; of a rate, queries a second
  double high = 0;
  bool is_rate() const { return name == "completion_rate"; }
};

struct SteadyState {
  std::uint64_t super_pass_size = 0;
  std::uint64_t super_passes = 0;  // whole ones in the run
  Gating by = Gating::tpot;
  std::string unit{};     // of replies without tokens, in the singular; else ""
  Duration window_min{};  // required by the rules
  WindowStatus status = WindowStatus::partial_dataset;
  SteadyVerdict verdict = SteadyVerdict::not_found;
  // Inclusive; only where `found`.
  bool found = false;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t samples = 0;
  Duration span{};                 // from the first to the last issue in the window
  Instant from = Instant::none();  // the first issue, if there is a window
  std::vector<GatingMetric> metrics{};
  std::optional<double> shift{};  // anomaly: of the level after the window, relative

  // Over the window's successful queries.
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::int64_t output_tokens = 0;
  std::uint64_t units = 0;
  double sound_s = 0;
  std::optional<double> units_per_s{};  // where replies have a unit: seconds of sound are one
  Distribution ttft{};
  Distribution tpot{};
  Distribution latency{};
  std::optional<double> tps{};
  std::optional<double> tps_per_user{};
  double qps = 0;

  // True: the window is the result. False: the whole run is.
  bool official() const {
    return status == WindowStatus::windowable &&
           (verdict == SteadyVerdict::steady || verdict == SteadyVerdict::anomaly);
  }
};

struct SteadyOptions {
  std::uint64_t super_pass = 0;  // queries; REQUIRES: > 0
  Duration window_min{};
  Gating by = Gating::tpot;
  std::uint32_t slots = 1;  // of the closed loop
  std::string unit{};       // as in SteadyState
};
// From a run's facts: `steady_state`, and the unit of its kind of API. Without `steady_state`
// super_pass is 0.
SteadyOptions steady_options(const Json& facts);

SteadyState find_steady_state(std::span<const Issued> queries, const SteadyOptions& options);

// The block of point.yaml.
Json steady_state_block(const SteadyState& steady);
// The block with the window's figures and each metric's values, for result_summary.json.
Json steady_state_json(const SteadyState& steady);
// "yes: super-passes 1 to 6 of 7, 20:12"; begins with "yes", "no" or "not known".
std::string steady_state_text(const SteadyState& steady);

}  // namespace assay::metrics
