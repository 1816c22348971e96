// A curve's folder and what is known of it: the plan that was made once, and which of its points
// are measured. docs/formats/curve_folder.md.
//
//   curve.json     the plan, the seeds, what the curve is of: written before anything is asked, and
//                  once more where C_max was found first
//   config.yaml    the settings that all points share
//   journal.jsonl  what happened to each point, appended and synced as it happens
//   endpoint.json  what the endpoint said of itself at the start; endpoint_metrics.txt its metrics
//   search/rN/     each level at which C_max was looked for, a run folder
//   audit/         the output caching audit: two run folders and the verdict
//   points/rN/     each point, a run folder like any other
//   attempts/      what was cut off: kept, and never counted
//   curve_summary.json  report.html   derived
//
// A point is finished when the journal says so and its run's manifest is the one that it names; or,
// after a kill between the two, when its manifest says that the run is complete and every file is
// as it says. Nothing else is believed, so whatever stopped the program, the next one goes on with
// the first point that is not finished.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "campaign/caching_files.h"
#include "plan/c_max_search.h"
#include "plan/curve_plan.h"
#include "plan/curve_seeds.h"
#include "record/journal.h"

namespace assay::campaign {

// What the endpoint said of itself when the curve began, and its whole /metrics.
inline constexpr const char* kEndpointFile = "endpoint.json";
inline constexpr const char* kEndpointMetricsFile = "endpoint_metrics.txt";

// Where C_max is not given but found.
struct CurveSearch {
  plan::CurveWish wish{};  // what is planned as soon as it is
  plan::CMaxRange range{};
  Json found{};  // {good, bad, steps}; null until then
};

struct CurveSettings {
  std::string id{};
  std::string version{};  // of Assay
  std::string started{};
  std::string edition = "v1.0";
  std::string model{};
  std::string endpoint{};
  plan::CurvePlan plan{};
  std::optional<CurveSearch> search{};
  plan::CurveSeeds seeds{};
  Json audit{};                        // the output caching audit that goes with it; null: none
  Json datasets{};                     // name, rows and sha256 of each
  std::string config{};                // YAML, as config.yaml holds it
  std::vector<std::string> command{};  // without secrets

  Json to_json() const;
  static Result<CurveSettings> from_json(const Json& json);
};

// What the journal and the folders say of one point.
struct PointState {
  bool finished = false;
  std::uint32_t attempts = 0;  // begun so far
  double qps = 0;              // where finished
  Duration took{};
};

class CurveFolder {
 public:
  static bool is_curve(const std::filesystem::path& folder);
  // Begins a curve in a folder that has none.
  static Result<CurveFolder> create(const std::filesystem::path& folder, CurveSettings settings);
  // Goes on with the curve that is there: adopts a point whose end was not journalled, and sets
  // aside what was cut off.
  static Result<CurveFolder> resume(const std::filesystem::path& folder);
  // Only looks; measures nothing and takes no lock.
  static Result<CurveFolder> read(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  const CurveSettings& settings() const { return settings_; }
  const std::vector<PointState>& points() const { return points_; }
  // The levels that were measured on the way to C_max, as they were journalled.
  const std::vector<Json>& searched() const { return searched_; }
  std::filesystem::path point_folder(std::size_t point) const;
  bool finished() const;

  // Around each level of the search: an empty folder for it, then what came out. nullopt: it was
  // measured whole, and only its end was not journalled.
  Result<std::optional<std::filesystem::path>> begin_search(std::int64_t level);
  std::filesystem::path search_folder(std::int64_t level) const;
  Result<void> end_search(const Json& step);
  // C_max is found, and with it the plan.
  Result<void> decide(plan::CurvePlan plan, Json found);
  // The folder of one phase of the caching audit; what lies there unfinished is set aside.
  // nullopt: it is measured.
  Result<std::optional<std::filesystem::path>> begin_audit(std::string_view phase);

  // One after the other around each measurement. begin() sets aside what lies in the point's
  // folder.
  Result<void> begin(std::size_t point);
  Result<void> end(std::size_t point, bool complete, double qps, Duration took,
                   std::string_view why);

 private:
  CurveFolder(std::filesystem::path folder, CurveSettings settings)
      : folder_(std::move(folder)), settings_(std::move(settings)) {
    points_.resize(settings_.plan.points.size());
  }
  void fold(const std::vector<Json>& entries);
  Result<void> set_aside(const std::filesystem::path& run, const std::string& name);
  Result<void> note(std::string_view event, std::size_t point, Json more);

  std::filesystem::path folder_;
  CurveSettings settings_;
  std::optional<record::Journal> journal_{};
  std::vector<PointState> points_{};
  std::vector<Json> searched_{};
  std::vector<std::string> manifests_{};  // by point, as the journal names them
};

// Queries a second that the point may be expected to make, from the finished ones before it in the
// plan: 0 without any.
double expected_rate(const plan::CurvePlan& plan, const std::vector<PointState>& points,
                     std::size_t point);

}  // namespace assay::campaign
