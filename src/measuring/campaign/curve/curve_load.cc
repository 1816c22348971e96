#include "campaign/curve/curve_load.h"

#include "base/files.h"
#include "base/format.h"
#include "campaign/reference_copy.h"
#include "report/curve_html.h"

namespace assay::campaign {
namespace {

// Null if the file is missing.
Result<Json> read_json_if(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Json();
  return read_json_file(path);
}

std::string dataset_names(const Json& datasets) {
  std::string out;
  for (const Json& dataset : datasets.items()) {
    if (!out.empty()) out += ", ";
    out += format("{} ({} rows)", dataset["name"].as_string(), dataset["rows"].as_uint());
  }
  return out;
}

// Gives the points the grades in the curve's safety/grades.json; without the file it does nothing.
Result<void> add_grades(const std::filesystem::path& curve_folder, metrics::Curve& curve) {
  ASSIGN_OR_RETURN(const Json grades, read_json_if(curve_folder / "safety/grades.json"));
  for (const Json& row : grades["levels"].items()) {
    for (metrics::CurvePoint& point : curve.points) {
      if (point.all_at_once() || point.concurrency != row["concurrency"].as_int(-1)) continue;
      metrics::SafetyGrade safety{.grade = std::string(row["grade"].as_string()),
                                  .queries = row["queries"].as_uint(),
                                  .failed = row["failed"].as_uint()};
      if (row["safe_share"].is_number()) safety.safe_share = row["safe_share"].as_double();
      if (row["attack_gap"].is_number()) safety.attack_gap = row["attack_gap"].as_double();
      point.safety = std::move(safety);
    }
  }
  return {};
}

}  // namespace

Result<metrics::Curve> load_curve(const CurveFolder& folder) {
  const CurveSettings& settings = folder.settings();
  metrics::Curve out{.id = settings.id, .model = settings.model, .endpoint = settings.endpoint};
  out.precision = settings.precision;
  out.started = settings.started;
  out.version = settings.version;
  out.edition = settings.edition;
  out.seed_set = settings.seeds.set;
  out.cohort = settings.seeds.cohort;
  out.datasets = dataset_names(settings.datasets);
  out.c_max = settings.plan.c_max;
  out.c_min = settings.plan.c_min;
  out.quick = settings.plan.quick;
  out.official = settings.plan.official;
  out.notes = settings.plan.notes;
  ASSIGN_OR_RETURN(const Json audit, read_json_if(folder.path() / "audit" / kCachingAuditFile));
  if (!audit.is_null()) {
    ASSIGN_OR_RETURN(out.audit, metrics::caching_from_json(audit));
  }
  for (std::size_t i = 0; i < settings.plan.points.size(); ++i) {
    const plan::CurvePoint& planned = settings.plan.points[i];
    metrics::CurvePoint point{.name = planned.name, .concurrency = planned.concurrency};
    if (planned.region) point.region = to_string(*planned.region);
    point.declared = planned.declared_region();
    point.offline = plan::to_string(planned.offline);
    point.accuracy_wanted = planned.accuracy;
    if (folder.points()[i].finished) {
      const std::filesystem::path run = folder.point_folder(i);
      ASSIGN_OR_RETURN(const Json summary, read_json_if(run / "performance/result_summary.json"));
      ASSIGN_OR_RETURN(const Json accuracy, read_json_if(run / "accuracy/accuracy_results.json"));
      ASSIGN_OR_RETURN(const Json theirs, read_json_if(run / kReferenceSummaryFile));
      if (!summary.is_null()) metrics::read_point(summary, accuracy, point);
      if (!theirs.is_null()) metrics::add_reference_tokens(theirs, point);
    }
    out.points.push_back(std::move(point));
  }
  TRY(add_grades(folder.path(), out));
  return out;
}

Result<void> publish_curve(const CurveFolder& folder, const metrics::Curve& curve) {
  TRY(write_file_atomic(folder.path() / "curve_summary.json",
                        metrics::curve_json(curve).dump(2) + "\n"));
  return write_file_atomic(folder.path() / "report.html", report::curve_html(curve, {}));
}

}  // namespace assay::campaign
