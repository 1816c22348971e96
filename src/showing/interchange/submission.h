// The files that a submission needs: point.yaml and system_desc.json, made from the measurements,
// the machine's description and a person's answers; the warm-up log; replies cut to the length that
// the rules allow. Layout: docs/formats/submission.md. Pure, except WarmupLog.
//
// The answers are one YAML map: `system` (fields of system_desc.json), `point` (fields of
// point.yaml for every point), `points` (the same for one point, by name: r64), `power`
// (system_power.json), `src` and `docs` (folders to include). Answers override what was found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"

namespace assay::interchange {

// One point as it was planned and measured.
struct PackedPoint {
  std::string name{};  // "r64"
  std::int64_t concurrency = 0;
  std::string region{};  // as declared
  std::string offline = "none";
  std::uint64_t min_samples = 0;  // as configured
  double min_duration_s = 0;
  Json summary{};   // performance/result_summary.json
  Json accuracy{};  // accuracy/accuracy_results.json; null without
  std::string warmup_source{};
};

// Fields that all points share.
struct PackedCurve {
  std::string model{};      // canonical
  std::string precision{};  // "" where it is not said
  std::string dataset{};    // the key that sets the minimum number of queries
  std::string endpoint{};
  std::int64_t c_max = 0;
  Json seeds{};     // CurveSeeds::to_json
  Json captured{};  // protocol::endpoint_facts of the endpoint; null: not captured
  bool stream_all_chunks = false;
  std::string implementation = "serving";  // folder below src/
};

// Fields that a person must still fill in are "", so that a checker names them.
Json point_yaml(const PackedCurve& curve, const PackedPoint& point, const Json& answers);

// `node`: capture_node(), or null. `utilization`: at the curve's highest throughput.
Json system_description(const PackedCurve& curve, const Json& node, const Json& answers,
                        std::optional<double> utilization);

// result_summary.json as submitted; with throughput per kilowatt where the power is known.
Json packed_summary(const PackedPoint& point, std::optional<double> point_kw);

// Cuts the `responses` of an accuracy file to `bytes_max` bytes as written, and changes nothing
// else.
Json cut_responses(Json accuracy, std::size_t bytes_max);

// Merges `over` into `under`; on a conflict `over` wins. Maps are merged, lists of maps entry by
// entry.
Json merged(Json under, const Json& over);

// A name made safe for a folder: spaces become _, and characters that a path must not hold are
// dropped.
std::string folder_name(std::string_view name);

// Writes every warm-up query of a run as a line of JSON, for reviewers.
class WarmupLog final : public QuietSink {
 public:
  explicit WarmupLog(RunInfo info) : info_(std::move(info)) {}
  void on_phase(const PhaseMark& mark) override;
  void on_done(const Event& event, std::string_view detail) override;
  const std::string& lines() const { return lines_; }

 private:
  RunInfo info_;
  Instant began_ = Instant::none();
  std::string lines_{};
};

}  // namespace assay::interchange
