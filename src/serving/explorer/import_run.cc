// Run folders: ours, read from the event log; the reference client's, from its result files.
#include <algorithm>

#include "audit/loaded_run.h"
#include "base/files.h"
#include "base/format.h"
#include "explorer/import_parts.h"
#include "interchange/read/reference_run.h"
#include "interchange/read/run_view.h"
#include "report/run_document.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

// The files that submitters put beside a run, and the config's description of its dataset.
struct Beside {
  Json config{};
  Json point{};
  Json description{};
};

Beside read_beside(const fs::path& folder) {
  return {.config = read_yaml_or_null(folder / "config.yaml"),
          .point = read_yaml_or_null(folder / "point.yaml"),
          .description = read_json_or_null(folder / "system_desc.json")};
}

std::string dataset_of(const Json& config) {
  const Json& datasets = config["datasets"];
  for (const Json& dataset : datasets.items()) {
    const std::string_view type = dataset["type"].as_string("performance");
    if (type == "performance" && !dataset["name"].as_string().empty()) {
      return clean_name(dataset["name"].as_string());
    }
  }
  return datasets.size() > 0 ? clean_name(datasets[0]["name"].as_string()) : std::string();
}

CurveFacts curve_of(const Beside& beside) {
  CurveFacts out{.origin = "run"};
  if (beside.description.size() > 0) out.system = facts_of_description(beside.description);
  if (beside.point["division"].is_string() && out.system.division.empty()) {
    out.system.division = clean_name(beside.point["division"].as_string());
  }
  out.model = clean_name(beside.point["model_name"].as_string());
  out.dataset = clean_name(beside.point["dataset"].as_string());
  out.cohort = clean_name(beside.point["target_cohort"].as_string());
  out.precision = clean_name(beside.point["model_precision"].as_string());
  return out;
}

// A run that sent everything at once is an Offline run: how many queries were in flight on average
// is an outcome and no level, so it counts by its queries.
void mark_offline(PointFacts& point, const Json& pattern) {
  if (pattern["type"].as_string() != "max_throughput") return;
  point.offline = "dedicated";
  point.region = "offline";
  const double issued = point.point["issued"].as_double();
  if (issued > 0) point.concurrency = issued;
}

void finish_point(FoundPoint& found, const Beside& beside, const fs::path& folder,
                  const Json& pattern) {
  PointFacts& point = found.point;
  point.region = clean_name(beside.point["region"].as_string());
  const std::string offline = clean_name(beside.point["offline"].as_string());
  if (offline != "none") point.offline = offline;
  if (offline.empty()) mark_offline(point, pattern);
  const auto edition = rulebook::edition_named("v1.0");
  const Json results = audit::accuracy_results(folder);
  if (edition) point.accuracy = judge_accuracy(results, found.curve.model, *edition);
}

// Members of `told` that `made` does not have.
void fill_in(Json& made, const Json& told) {
  for (const auto& [key, value] : told.members()) {
    Json* const own = made.find(key);
    if (own == nullptr || own->is_null()) {
      made.set(key, value);
    } else if (own->is_object() && value.is_object()) {
      fill_in(*own, value);
    }
  }
}

// Figures of the reference client's events: failed queries are in none of them, as in our own
// runs, and there is a timeline. What events do not have, such as tokens, stays as its summary has
// it.
Result<void> add_events_of(const fs::path& folder, FoundPoint& out) {
  ASSIGN_OR_RETURN(const interchange::RunView view, interchange::RunView::open(folder));
  ASSIGN_OR_RETURN(const audit::LoadedRun run, audit::load_run(view.folder()));
  const report::RunContext context{.config_yaml = run.config_yaml,
                                   .environment = audit::environment_json(run),
                                   .log_note = audit::log_note(run)};
  Json point = report::point_document(run.point, context);
  Json document = report::run_document(run.point, context);
  for (const char* const told_by_summary : {"measured_by", "version"}) {
    document.erase(told_by_summary);
  }
  if (run.point.run.started.ns == 0) document.erase("started");
  if (run.point.tokens.source == metrics::TokenSource::unknown) document.erase("tokens");
  fill_in(point, out.point.point);
  fill_in(document, out.point.run);
  document.set("measured_by", "figures computed from the events of the reference client");
  if (out.point.concurrency <= 0) out.point.concurrency = point["concurrency"].as_double();
  out.point.point = std::move(point);
  out.point.run = std::move(document);
  return {};
}

// From the manifest if there is one, so that a large log is not hashed again.
std::vector<report::ReportFile> files_of(const fs::path& folder) {
  std::vector<report::ReportFile> out;
  const Json manifest = read_json_or_null(folder / "assay/run.json");
  for (const Json& file : manifest["files"].items()) {
    out.push_back({.path = std::string(file["path"].as_string()),
                   .bytes = file["bytes"].as_uint(),
                   .sha256 = std::string(file["sha256"].as_string())});
  }
  return out;
}

}  // namespace

bool is_our_run(const fs::path& folder) {
  return fs::is_regular_file(folder / "assay/events-0.alog");
}

bool is_reference_run(const fs::path& folder) {
  return fs::is_regular_file(folder / "performance/result_summary.json") ||
         fs::is_regular_file(folder / "result_summary.json");
}

Result<FoundPoint> read_our_run(const fs::path& folder, const ImportOptions& options) {
  ASSIGN_OR_RETURN(const audit::LoadedRun run, audit::load_run(folder));
  const metrics::Point& point = run.point;
  const RunInfo& info = point.run;
  const report::RunContext context{.files = files_of(folder),
                                   .config_yaml = run.config_yaml,
                                   .environment = audit::environment_json(run),
                                   .log_note = audit::log_note(run),
                                   .audit = run.audit,
                                   .innocence = run.innocence};

  const Beside beside = read_beside(folder);
  FoundPoint out{.curve = curve_of(beside)};
  out.curve.system.kind = info.simulated ? "simulated" : "measured";
  if (out.curve.model.empty()) out.curve.model = clean_name(info.facts["model"].as_string());
  if (out.curve.dataset.empty()) out.curve.dataset = dataset_of(beside.config);
  if (out.curve.system.name.empty()) {
    out.curve.system.name = clean_name(info.facts["endpoints"][0].as_string());
  }
  out.point.point = report::point_document(point, context);
  out.point.run = report::run_document(point, context);
  out.point.concurrency = out.point.point["concurrency"].as_double();
  out.point.key = info.run_id.empty() ? folder.string() : info.run_id;
  out.point.source = folder.string();
  out.point.datasheets = datasheets_of(info.facts);
  if (!run.axes.empty()) out.point.run.set("axes", metrics::to_json(run.axes));
  apply_options(out.curve, options);
  finish_point(out, beside, folder, info.facts["run_config"]["load_pattern"]);
  return out;
}

Result<FoundPoint> read_reference_run(const fs::path& folder, const ImportOptions& options) {
  const bool flat = !fs::is_directory(folder / "performance");
  const fs::path path =
      flat ? folder / "result_summary.json" : folder / "performance/result_summary.json";
  ASSIGN_OR_RETURN(const std::string text, read_file(path, std::size_t{64} << 20));
  ASSIGN_OR_RETURN(const Json summary, Json::parse(text));
  if (!summary["n_samples_completed"].is_integer()) {
    return invalid(format("'{}' has no n_samples_completed", path.string()));
  }
  const Beside beside = read_beside(folder);
  FoundPoint out{.curve = curve_of(beside)};
  if (out.curve.model.empty()) {
    out.curve.model = clean_name(beside.config["model_params"]["name"].as_string());
  }
  if (out.curve.dataset.empty()) out.curve.dataset = dataset_of(beside.config);
  if (out.curve.system.name.empty()) {
    out.curve.system.name =
        clean_name(beside.config["endpoint_config"]["endpoints"][0].as_string());
  }
  out.point.point = report::point_document(summary);
  out.point.run = report::run_document(summary);
  const Json& pattern = summary["run_config"]["load_pattern"];
  out.point.concurrency =
      pattern["target_concurrency"].as_double(beside.point["concurrency"].as_double(
          beside.config["settings"]["load_pattern"]["target_concurrency"].as_double()));
  if (const auto config = read_file(folder / "config.yaml")) out.point.run.set("config", *config);
  if (interchange::is_reference_folder(folder)) {
    if (const auto added = add_events_of(folder, out); !added) {
      Json warnings = Json::array();
      warnings.push_back("its events are not read: " + added.error().message);
      out.point.run.set("warnings", std::move(warnings));
    }
  }
  // No field of the reference's files identifies the run, so its figures do.
  out.point.key = id_of({text});
  apply_options(out.curve, options);
  finish_point(out, beside, folder, pattern);
  return out;
}

}  // namespace assay::explorer
