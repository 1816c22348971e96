// A curve's folder: the plan, made once, and the state of its points. docs/formats/curve_folder.md.
//
//   curve.json     the plan, the seeds, the curve's subject: written before the first query, and
//                  again once a search has found C_max
//   config.yaml    the settings that all points share
//   journal.jsonl  the events of each point, appended and synced as they happen
//   endpoint.json  the endpoint's description of itself; endpoint_metrics.txt its metrics
//   search/rN/     each level of the search for C_max, a run folder
//   audit/         the output caching audit: two run folders and the verdict
//   points/rN/     each point, a run folder like any other
//   attempts/      interrupted runs: kept, and never counted
//   curve_summary.json  report.html   derived
//
// A point is finished when the journal says so and its run has the manifest that the journal names.
// After a kill between the two, it is finished when its manifest says that the run is complete and
// every file matches. Nothing else counts, so after any stop the next call resumes at the first
// unfinished point.
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

// The endpoint's description of itself when the curve began, and its whole /metrics.
inline constexpr const char* kEndpointFile = "endpoint.json";
inline constexpr const char* kEndpointMetricsFile = "endpoint_metrics.txt";

// The search for a C_max that was not given.
struct CurveSearch {
  plan::CurveWish wish{};  // planned once C_max is found
  plan::CMaxRange range{};
  Json found{};  // {good, bad, steps}; null before
};

struct CurveSettings {
  std::string id{};
  std::string version{};  // of Assay
  std::string started{};
  std::string edition = "v1.0";
  std::string model{};
  std::string precision{};  // of the model, as the user says it: fp8; "" where it is not said
  std::string endpoint{};
  plan::CurvePlan plan{};
  std::optional<CurveSearch> search{};
  plan::CurveSeeds seeds{};
  Json audit{};                        // the output caching audit of this curve; null: none
  Json datasets{};                     // name, rows and sha256 of each dataset
  std::string config{};                // YAML, as config.yaml holds it
  std::vector<std::string> command{};  // without secrets

  Json to_json() const;
  static Result<CurveSettings> from_json(const Json& json);
};

// The state of one point, from the journal and the folders.
struct PointState {
  bool finished = false;
  std::uint32_t attempts = 0;  // begun so far
  double qps = 0;              // if finished
  Duration took{};
};

class CurveFolder {
 public:
  static bool is_curve(const std::filesystem::path& folder);
  // Begins a curve in a folder without one.
  static Result<CurveFolder> create(const std::filesystem::path& folder, CurveSettings settings);
  // Resumes the curve in the folder: adopts a finished point whose end is missing in the journal,
  // and moves interrupted runs to attempts/.
  static Result<CurveFolder> resume(const std::filesystem::path& folder);
  // Reads only; measures nothing and takes no lock.
  static Result<CurveFolder> read(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  const CurveSettings& settings() const { return settings_; }
  const std::vector<PointState>& points() const { return points_; }
  // The levels measured in the search for C_max, as journalled.
  const std::vector<Json>& searched() const { return searched_; }
  std::filesystem::path point_folder(std::size_t point) const;
  bool finished() const;

  // Call these around each level of the search: an empty folder, then the result. nullopt: the
  // level is complete, and only its end was missing in the journal.
  Result<std::optional<std::filesystem::path>> begin_search(std::int64_t level);
  std::filesystem::path search_folder(std::int64_t level) const;
  Result<void> end_search(const Json& step);
  // Records C_max and the plan that follows from it.
  Result<void> decide(plan::CurvePlan plan, Json found);
  // The folder for one phase of the caching audit; an unfinished run there is moved to attempts/.
  // nullopt: the phase is measured.
  Result<std::optional<std::filesystem::path>> begin_audit(std::string_view phase);

  // Call these around each measurement. begin() moves what is in the point's folder to attempts/.
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

// The expected queries a second of a point, from the finished ones before it in the plan; 0 without
// any.
double expected_rate(const plan::CurvePlan& plan, const std::vector<PointState>& points,
                     std::size_t point);

}  // namespace assay::campaign
