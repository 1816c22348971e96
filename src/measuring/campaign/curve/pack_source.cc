#include "campaign/curve/pack_source.h"

#include <algorithm>

#include "base/clock.h"
#include "base/format.h"
#include "campaign/curve/curve_folder.h"
#include "campaign/curve/curve_view.h"
#include "campaign/run_folder.h"
#include "interchange/read/reference_run.h"
#include "plan/curve_plan.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

// Reads the files of a run that become a point.
Result<void> read_packed_run(const std::filesystem::path& run, interchange::PackedPoint& point,
                             Json& facts) {
  ASSIGN_OR_RETURN(point.summary, read_json_file(run / "performance/result_summary.json"));
  std::error_code ignored;
  const std::filesystem::path accuracy = run / "accuracy/accuracy_results.json";
  if (std::filesystem::exists(accuracy, ignored)) {
    ASSIGN_OR_RETURN(point.accuracy, read_json_file(accuracy));
  }
  if (interchange::is_reference_folder(run)) {
    ASSIGN_OR_RETURN(const auto read, interchange::read_reference_run(run));
    facts = read.info.facts;
  } else {
    ASSIGN_OR_RETURN(const auto logs, record::find_event_logs(log_folder(run)));
    ASSIGN_OR_RETURN(const RunInfo info, record::read_run_info(logs.front()));
    facts = info.facts;
  }
  point.warmup_source = facts["curve"]["warmup_source"].as_string("the measured prompts");
  return {};
}

// For a curve, or for a run whose config asked for the audit.
std::vector<std::filesystem::path> caching_files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code ignored;
  for (const char* name : {kCachingAuditFile, kCachingVerifyFile}) {
    const std::filesystem::path file = folder / "audit" / name;
    if (std::filesystem::exists(file, ignored)) out.push_back(file);
  }
  return out;
}

Result<PackSource> from_curve(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const CurveFolder folder, CurveFolder::read(path));
  const CurveSettings& settings = folder.settings();
  PackSource out;
  out.edition = settings.edition;
  out.command = settings.command;
  out.plan = settings.plan;
  out.notes = settings.plan.notes;
  ASSIGN_OR_RETURN(const rulebook::Edition edition, rulebook::edition_named(settings.edition));
  out.curve.model = edition.name_of(settings.model);
  out.curve.precision = settings.precision;
  out.curve.endpoint = settings.endpoint;
  out.curve.c_max = settings.plan.c_max;
  out.curve.seeds = settings.seeds.to_json();
  std::error_code ignored;
  if (std::filesystem::exists(path / kEndpointFile, ignored)) {
    ASSIGN_OR_RETURN(out.curve.captured, read_json_file(path / kEndpointFile));
  }
  out.audit_files = caching_files_of(path);
  for (const Json& dataset : settings.datasets.items()) {
    if (dataset["rows"].as_uint() != settings.plan.rows) continue;
    out.curve.dataset = dataset["name"].as_string();
    break;
  }
  for (std::size_t i = 0; i < settings.plan.points.size(); ++i) {
    const plan::CurvePoint& planned = settings.plan.points[i];
    if (!folder.points()[i].finished) {
      out.notes.push_back(format("{} is not measured", planned.name));
      continue;
    }
    interchange::PackedPoint point{.name = planned.name, .concurrency = planned.concurrency};
    point.region = planned.declared_region();
    point.offline = plan::to_string(planned.offline);
    point.min_samples = planned.passes_min * settings.plan.rows;
    point.min_duration_s = planned.window_min.seconds();
    Json facts;
    TRY(read_packed_run(folder.point_folder(i), point, facts));
    out.points.push_back(std::move(point));
    out.runs.push_back(folder.point_folder(i));
  }
  return out;
}

// Single runs: their levels determine the regions.
Result<PackSource> from_runs(const std::vector<std::string>& folders, std::int64_t c_max) {
  PackSource out;
  ASSIGN_OR_RETURN(const rulebook::Edition edition, rulebook::edition_named(out.edition));
  plan::CurveWish wish{.c_max = c_max};
  for (const std::string& folder : folders) {
    interchange::PackedPoint point;
    Json facts;
    TRY(read_packed_run(folder, point, facts));
    const Json& config = point.summary["run_config"];
    const Json& pattern = config["load_pattern"];
    const auto issued = point.summary["n_samples_issued"].as_int();
    if (pattern["type"].as_string() == "max_throughput") {
      point.offline = "dedicated";
      point.concurrency = issued;
      point.region = edition.choice_region;
    } else {
      point.concurrency = pattern["target_concurrency"].as_int();
      if (point.concurrency < 1) {
        return invalid(
            format("{}: no run of a fixed concurrency, and not all at once: it is not a "
                   "point of a curve",
                   folder));
      }
      wish.levels.push_back(point.concurrency);
    }
    point.name = format("r{}", point.concurrency);
    point.min_samples = static_cast<std::uint64_t>(std::max<std::int64_t>(issued, 0));
    wish.rows = std::max(wish.rows, facts["steady_state"]["super_pass"].as_uint(1));
    out.curve.model = edition.name_of(facts["model"].as_string());
    out.curve.endpoint = facts["endpoints"][0].as_string();
    out.curve.dataset = facts["dataset"].as_string("performance");
    out.curve.seeds = Json()
                          .set("seed_set", "")
                          .set("target_cohort", plan::next_cohort(wall_now()).text())
                          .set("scheduler_rng_seed", config["scheduler_random_seed"])
                          .set("sample_index_rng_seed", config["dataloader_random_seed"])
                          .set("model_seed", 0);
    out.points.push_back(std::move(point));
    out.runs.emplace_back(folder);
    if (out.audit_files.empty()) out.audit_files = caching_files_of(folder);
  }
  if (wish.levels.empty()) return invalid("there is no run of a fixed concurrency among them");
  wish.offline = plan::Offline::none;
  ASSIGN_OR_RETURN(out.plan, plan::plan_curve(wish));
  out.curve.c_max = out.plan.c_max;
  std::vector<plan::CurvePoint>& planned = out.plan.points;
  for (interchange::PackedPoint& point : out.points) {
    const auto found = std::ranges::find(planned, point.name, &plan::CurvePoint::name);
    if (found != planned.end()) {
      point.region = found->declared_region();
    } else if (point.offline == plan::to_string(plan::Offline::dedicated)) {
      planned.push_back({.name = point.name, .concurrency = point.concurrency, .choice = true});
      planned.back().offline = plan::Offline::dedicated;
    }
  }
  out.notes = out.plan.notes;
  for (const rulebook::SeedSet& set : edition.seed_sets) {
    if (out.curve.seeds["scheduler_rng_seed"].as_uint() != set.scheduler_rng_seed) continue;
    out.curve.seeds.set("seed_set", set.id).set("model_seed", set.model_seed);
  }
  return out;
}

}  // namespace

Result<PackSource> pack_source(const std::vector<std::string>& folders, std::int64_t c_max) {
  if (folders.empty()) return invalid("name a curve's folder, or those of runs");
  const bool curve = CurveFolder::is_curve(folders.front());
  if (curve && folders.size() > 1) return invalid("name one curve at a time");
  const std::vector<std::string> inside = reference_runs_in(folders.front());
  const bool holds_runs = folders.size() == 1 && !inside.empty();
  ASSIGN_OR_RETURN(PackSource out, curve ? from_curve(folders.front())
                                         : from_runs(holds_runs ? inside : folders, c_max));
  if (out.points.empty()) return invalid(format("{}: no point is measured", folders.front()));
  for (std::size_t i = 1; i < out.points.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (out.points[i].name == out.points[k].name) {
        return invalid(format("{} and {}: both are the point {}; leave one out",
                              out.runs[k].string(), out.runs[i].string(), out.points[i].name));
      }
    }
  }
  return out;
}

}  // namespace assay::campaign
