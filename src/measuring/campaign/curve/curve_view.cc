#include "campaign/curve/curve_view.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/version.h"
#include "campaign/curve/pack_source.h"
#include "campaign/reference_copy.h"
#include "campaign/run_folder.h"
#include "interchange/read/reference_run.h"

namespace assay::campaign {
namespace {

namespace fs = std::filesystem;

CurveSettings settings_of(const PackSource& source, std::vector<std::string> command) {
  CurveSettings settings;
  settings.version = version();
  settings.edition = source.edition;
  settings.model = source.curve.model;
  settings.endpoint = source.curve.endpoint;
  settings.plan = source.plan;
  settings.plan.official = false;
  settings.plan.notes.insert(
      settings.plan.notes.begin(),
      "made of runs of the reference client: no kernel stamps, no verdict on the client");
  settings.seeds = plan::CurveSeeds::from_json(source.curve.seeds);
  settings.datasets = Json::array().push_back(
      Json().set("name", source.curve.dataset).set("rows", source.plan.rows));
  settings.command = std::move(command);
  std::string names;
  for (const fs::path& run : source.runs) names += run.string() + "\n";
  settings.id = sha256_hex(names).substr(0, 32);
  return settings;
}

}  // namespace

std::vector<std::string> reference_runs_in(const fs::path& folder) {
  std::vector<std::string> runs;
  if (CurveFolder::is_curve(folder) || interchange::is_reference_folder(folder)) return runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (interchange::is_reference_folder(entry.path())) runs.push_back(entry.path().string());
  }
  std::ranges::sort(runs);
  return runs;
}

Result<void> collect_curve(const std::vector<std::string>& runs, const fs::path& folder,
                           std::vector<std::string> command) {
  for (const std::string& run : runs) {
    if (interchange::is_reference_folder(run)) continue;
    return invalid(
        format("'{}' is not a run of the reference client (events.jsonl), and a curve is "
               "made of those\n  runs of other tools: assay convert each of them",
               run));
  }
  ASSIGN_OR_RETURN(const PackSource source, pack_source(runs, 0));
  ASSIGN_OR_RETURN(CurveFolder curve, CurveFolder::create(folder, settings_of(source, command)));
  for (std::size_t i = 0; i < source.runs.size(); ++i) {
    const auto& points = source.plan.points;
    const auto found = std::ranges::find(points, source.points[i].name, &plan::CurvePoint::name);
    const auto at = static_cast<std::size_t>(found - points.begin());
    TRY(curve.begin(at));
    const fs::path place = curve.point_folder(at);
    TRY(copy_reference_run(source.runs[i], {}, place));
    ASSIGN_OR_RETURN(const LoadedRun run, publish(place, {.command = command}));
    TRY(curve.end(at, true, run.point.rates.qps, run.point.rates.duration, ""));
  }
  return {};
}

bool CurveView::is_curve(const fs::path& given) {
  return CurveFolder::is_curve(given) || !reference_runs_in(given).empty();
}

Result<CurveView> CurveView::open(const fs::path& given) {
  if (CurveFolder::is_curve(given)) {
    ASSIGN_OR_RETURN(CurveFolder curve, CurveFolder::read(given));
    return CurveView(std::move(curve), std::nullopt);
  }
  ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::make("curve"));
  TRY(collect_curve(reference_runs_in(given), scratch.path(), {}));
  ASSIGN_OR_RETURN(CurveFolder curve, CurveFolder::read(scratch.path()));
  return CurveView(std::move(curve), std::move(scratch));
}

}  // namespace assay::campaign
