// Curve: the points of one system, model and dataset, as numbers for charts and tables. Each point
// comes from its own result_summary.json and accuracy_results.json, so making a curve takes
// milliseconds, even with long event logs.
//
// A point has two sets of figures: of its steady-state window and of the whole run. The window's
// figures are official where the window is long enough and level (metrics/steady_state.h); else the
// run's are, and the point says why. The official curve is a step function over interactivity:
// there is no point between two measured ones.
//
// A kind of API without tokens has a unit (domain/api.h). Its curve is of units a second over the
// latency of a reply, P90, instead of tokens a second over interactivity.
//
// Times in ms. Plain data; any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "metrics/caching_audit.h"

namespace assay::metrics {

struct PointFigures {
  std::optional<double> system_tps{};
  std::optional<double> tps_per_user{};
  std::optional<double> units_per_s{};
  double qps = 0;
  double ttft_p50_ms = 0;  // 0: unknown, as for all that follow
  double ttft_mean_ms = 0;
  double ttft_p90_ms = 0;
  double ttft_p99_ms = 0;
  double tpot_p50_ms = 0;
  double tpot_mean_ms = 0;
  double tpot_p90_ms = 0;
  double tpot_p99_ms = 0;
  double latency_p50_ms = 0;
  double latency_p90_ms = 0;
  double latency_p99_ms = 0;
  double duration_s = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;

  // What the system gives in a second: units, or tokens.
  std::optional<double> throughput() const { return units_per_s ? units_per_s : system_tps; }
};

struct AccuracyScore {
  std::string dataset{};
  std::string metric{};  // "" where the file gives one number
  double score = 0;
  std::uint64_t samples = 0;
};

// From a safety run at the point's concurrency (docs/formats/safety.md), by Assay's own rule set.
struct SafetyGrade {
  std::string grade{};                 // "Very Good"; "" where there is none
  std::optional<double> safe_share{};  // of the graded replies
  std::optional<double> attack_gap{};  // by how much attacks raise the unsafe share
  std::uint64_t queries = 0;           // of the safety run
  std::uint64_t failed = 0;
};

// The first figure of each dataset: what a line has room for.
std::vector<AccuracyScore> headline_scores(const std::vector<AccuracyScore>& scores);

struct CurvePoint {
  std::string name{};  // "r64"
  std::int64_t concurrency = 0;
  std::string region{};    // computed; "" outside all regions
  std::string declared{};  // as in point.yaml
  std::string offline = "none";
  bool accuracy_wanted = false;
  bool measured = false;

  PointFigures run{};
  std::optional<PointFigures> window{};
  bool window_official = false;
  std::string status{};  // of the steady state; "" if it was not searched
  std::string verdict{};
  std::string unit{};    // of replies without tokens, in the singular; else ""
  std::string client{};  // the client's verdict: "no", "maybe", "yes": client-limited; "": unknown
  std::vector<AccuracyScore> accuracy{};
  std::optional<SafetyGrade> safety{};
  std::vector<std::string> warnings{};
  std::optional<double> power_kw{};  // provisioned, from a power file

  // A dedicated Offline: no level of concurrency, and no user waits.
  bool all_at_once() const { return offline == "dedicated"; }
  const PointFigures& official() const { return window_official ? *window : run; }
};

struct Curve {
  std::string id{};
  std::string model{};
  std::string endpoint{};
  std::string precision{};  // of the model, as the user says it; "" where it is not said
  std::string started{};
  std::string version{};  // of Assay
  std::string edition{};
  std::string seed_set{};
  std::string cohort{};
  std::string datasets{};  // names, for a person
  std::int64_t c_max = 0;
  std::int64_t c_min = 0;
  bool quick = false;
  bool official = false;  // by its plan
  bool simulated = false;
  std::vector<std::string> notes{};
  std::vector<CurvePoint> points{};
  std::optional<CachingAudit> audit{};

  // Among measured levels, without a dedicated Offline; nullptr if there is none.
  const CurvePoint* fastest() const;           // most throughput
  const CurvePoint* most_interactive() const;  // most tps_per_user; with a unit, least latency P90
  std::size_t measured() const;
  // That of the measured points; "" for tokens.
  std::string unit() const;
  // "tok/s", "images/s".
  std::string throughput_unit() const;
};

// Copies the figures of a run folder's files into `point`; `accuracy` may be null.
void read_point(const Json& summary, const Json& accuracy, CurvePoint& point);
// Takes the token figures of a run of the reference client from its own summary, where `point` has
// none: its events hold no token counts.
void add_reference_tokens(const Json& summary, CurvePoint& point);

// Joules of a token or of a unit, by the provisioned power.
std::optional<double> joules_each(const CurvePoint& point);

// Returns the JSON that programs read: docs/formats/curve_folder.md.
Json curve_json(const Curve& curve);

}  // namespace assay::metrics
