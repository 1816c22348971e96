// Reads submission trees tolerantly: the checker (assay check) reports faults, the importer shows
// the contents.
//
//   v1.0   results/<system>/<model>/r<N>/{point.yaml, system_desc.json, result_summary.json, …}
//   v0.7   systems/<system>.json and pareto/<system>/<model>/…/result_summary.json
//          as published, [<organisation>/]<system>/<model>/{systems/<system>.json,
//          points/point_<N>.yaml, results/point_<N>/{results_summary.json, run_metadata.json}}
#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "explorer/import_parts.h"
#include "report/run_document.h"
#include "rulebook/power.h"
#include "rules/check_tree.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

// The number at the end of r64, c64, concurrency_64; 0 without one.
std::int64_t number_in(const std::string& name) {
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos) return 0;
  std::size_t first = last;
  while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
  return parse_int(name.substr(first, last - first + 1)).value_or(0);
}

struct Where {
  fs::path root{};
  fs::path folder{};  // the point's folder
  std::string layout{};
  std::string system{};
  std::string model{};
  Json description{};  // of the system, if the point has none
  Json power{};
  bool published = false;  // v0.7, a model's own folder
};

Json steady_state(const Json& told) {
  if (!told.is_object()) return Json();
  Json out;
  out.set("status", clean_name(told["status"].as_string()));
  out.set("verdict", clean_name(told["verdict"].as_string()));
  const Json& window = told["window"];
  if (window.is_object()) {
    out.set("text", format("super-passes {} to {}, {} samples, {} s",
                           window["super_pass_start"].as_int(), window["super_pass_end"].as_int(),
                           window["n_samples"].as_int(), window["duration_s"].as_double()));
  }
  return out;
}

std::vector<rulebook::NodesUsed> nodes_used(const Json& point) {
  std::vector<rulebook::NodesUsed> out;
  for (const Json& used : point["nodes_used"].items()) {
    out.push_back({used["system_node_ensemble_id"].as_int(), used["nodes"].as_int()});
  }
  return out;
}

void set_point_power(FoundPoint& out, const Where& where, const Json& description,
                     const Json& point) {
  if (!where.power.is_object()) return;
  const rulebook::Power power = rulebook::compute_power(where.power, description);
  if (!power.good() || power.total_w <= 0) return;
  out.curve.system.power_kw = power.provisioned_kw();
  out.point.power_kw = rulebook::point_power_kw(power, nodes_used(point));
  out.curve.system.power_basis = power.estimated.empty() ? "provisioned" : "estimated";
  out.point.power_basis = out.curve.system.power_basis;
}

Json folder_files(const fs::path& folder) {
  Json out = Json::array();
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
  std::ranges::sort(entries);
  for (const auto& entry : entries) {
    if (!entry.is_regular_file(error) || entry.is_symlink(error)) continue;
    out.push_back(Json()
                      .set("path", clean_name(entry.path().filename().string()))
                      .set("bytes", entry.file_size(error)));
  }
  return out;
}

// A point's own files, in any layout.
struct PointFiles {
  Json summary{};
  Json point{};  // the declared values
  Json description{};
};

Result<PointFiles> point_files(const Where& where) {
  const fs::path path = where.folder / "result_summary.json";
  ASSIGN_OR_RETURN(const std::string text, read_file(path, std::size_t{64} << 20));
  PointFiles out;
  auto parsed = Json::parse(text);
  if (!parsed) return parsed.error().within(path.string());
  out.summary = *std::move(parsed);
  out.point = read_yaml_or_null(where.folder / "point.yaml");
  if (!out.point.is_object()) out.point = read_json_or_null(where.folder / "run_metadata.json");
  out.description = read_json_or_null(where.folder / "system_desc.json");
  if (!out.description.is_object()) out.description = where.description;
  return out;
}

// The declared figures of a published point in a summary's form: ms become ns. The summary's own
// values win.
Json summary_of_metadata(const Json& told, Json summary) {
  constexpr double kNsPerMs = 1e6;
  if (!summary.is_object()) summary = Json::object();
  const auto put = [&summary](std::string_view name, const Json& value, double scale) {
    if (summary.find(name) == nullptr && value.is_number()) {
      summary.set(name, scale == 1 ? value : Json(value.as_double() * scale));
    }
  };
  // A summary's totals already give the rates.
  if (summary.find("duration_ns") == nullptr) {
    put("system_tps", told["system_tps"], 1);
    put("tps_per_user", told["tps_per_user"], 1);
    put("qps", told["qps"], 1);
  }
  put("duration_ns", told["measured_run_duration"], 1e9);
  put("n_samples_completed", told["measured_total_requests"], 1);
  put("n_samples_issued", told["measured_total_requests_issued"], 1);
  put("n_samples_failed", told["measured_total_requests_failed"], 1);
  for (const auto& [block, name] :
       {std::pair{"ttft", "ttft"}, {"tpot", "tpot"}, {"latency", "request"}}) {
    if (summary[block]["percentiles"].is_object()) continue;
    Json percentiles = Json::object();
    for (const char* p : {"50", "90", "95", "99"}) {
      const Json& value = told[format("measured_latency_{}_p{}", name, p)];
      if (value.is_number()) percentiles.set(format("{}.0", p), value.as_double() * kNsPerMs);
    }
    if (percentiles.size() > 0) summary.set(block, Json().set("percentiles", percentiles));
  }
  return summary;
}

Result<PointFiles> published_files(const Where& where) {
  PointFiles out{.description = where.description};
  const Json metadata = read_json_or_null(where.folder / "run_metadata.json");
  Json summary = read_json_or_null(where.folder / "results_summary.json");
  if (!metadata.is_object() && !summary.is_object()) {
    return invalid("neither run_metadata.json nor results_summary.json can be read");
  }
  out.summary = summary_of_metadata(metadata, std::move(summary));
  out.point =
      read_yaml_or_null(where.root / "points" / (where.folder.filename().string() + ".yaml"));
  if (!out.point.is_object()) out.point = metadata;
  return out;
}

Result<FoundPoint> read_point(const Where& where, const ImportOptions& options,
                              const rulebook::Edition& edition) {
  ASSIGN_OR_RETURN(const PointFiles files,
                   where.published ? published_files(where) : point_files(where));
  const Json& summary = files.summary;
  const Json& point = files.point;
  const Json& description = files.description;

  FoundPoint out;
  out.curve = {.system = facts_of_description(description),
               .model = clean_name(where.model),
               .dataset = clean_name(point["dataset"].as_string(point["dataset_name"].as_string())),
               .origin = "submission",
               .layout = where.layout,
               .submission = clean_name(where.root.filename().string()),
               .cohort = clean_name(point["target_cohort"].as_string()),
               .precision = clean_name(point["model_precision"].as_string()),
               .path = where.root.string(),
               .agentic = edition.benchmark(where.model) != nullptr &&
                          edition.benchmark(where.model)->agentic};
  if (out.curve.system.name.empty()) out.curve.system.name = clean_name(where.system);
  if (out.curve.system.organisation.empty() && fs::exists(where.root / "cli_metadata.json")) {
    out.curve.system.organisation = clean_name(where.root.parent_path().filename().string());
  }
  set_point_power(out, where, description, point);
  out.point.point = report::point_document(summary);
  out.point.run = report::run_document(summary);
  const std::int64_t named = number_in(where.folder.filename().string());
  out.point.concurrency = point["concurrency"].as_double(
      summary["run_config"]["load_pattern"]["target_concurrency"].as_double(double(named)));
  if (!edition.tps_per_user_of_tpot && out.point.concurrency > 0 &&
      out.point.point["system_tps"].is_number()) {
    out.point.point.set("tps_per_user",
                        out.point.point["system_tps"].as_double() / out.point.concurrency);
  }
  out.point.key = where.folder.lexically_relative(where.root).generic_string();
  out.point.region = clean_name(point["region"].as_string());
  const std::string_view offline = point["offline"].as_string();
  if (offline == "dedicated" || offline == "elected") out.point.offline = offline;
  if (offline == "dedicated") out.point.region = "offline";
  if (point["steady_state"].is_object()) {
    out.point.run.set("steady_state", steady_state(point["steady_state"]));
    const std::string_view steady = report::steady_word(
        point["steady_state"]["status"].as_string(), point["steady_state"]["verdict"].as_string());
    if (!steady.empty()) out.point.point.set("steady", steady);
  }
  if (const auto config = read_file(where.folder / "config.yaml", 1 << 20)) {
    out.point.run.set("config", *config);
  }
  out.point.run.set("files", folder_files(where.folder));
  apply_options(out.curve, options);
  Json accuracy = read_json_or_null(where.folder / "accuracy_results.json");
  if (accuracy.is_null()) accuracy = read_json_or_null(where.folder / "results.json");
  out.point.accuracy = judge_accuracy(accuracy, where.model, edition);
  return out;
}

void add_findings(const fs::path& root, std::string_view layout, std::vector<FoundPoint>& points) {
  const auto report = rules::check_tree(root, {.edition = std::string(layout), .review = false});
  if (!report || !report->usable) return;
  for (FoundPoint& point : points) {
    point.point.findings = findings_below(*report, point.point.key);
  }
}

// Collects every folder below `at` that holds a result_summary.json.
void points_below(const fs::path& at, int depth, std::vector<fs::path>& out) {
  if (fs::is_regular_file(at / "result_summary.json")) {
    out.push_back(at);
    return;
  }
  if (depth == 0) return;
  for (const fs::path& folder : folders_in(at)) points_below(folder, depth - 1, out);
}

bool is_published(const fs::path& folder) {
  return fs::is_directory(folder / "systems") && !fs::is_directory(folder / "pareto") &&
         (fs::is_directory(folder / "points") || fs::is_directory(folder / "results"));
}

// Reads a system's folder or the organisation's folder above it, with names from the path.
std::vector<FoundPoint> read_published(const fs::path& root, const ImportOptions& options,
                                       const rulebook::Edition& edition,
                                       std::vector<std::string>& notes) {
  const fs::path whole = fs::absolute(root).lexically_normal();
  Where where{.root = root, .layout = "v0.7", .published = true};
  where.model = whole.filename().string();
  where.system = whole.parent_path().filename().string();
  std::error_code error;
  std::vector<fs::path> descriptions;
  for (const auto& entry : fs::directory_iterator(root / "systems", error)) {
    if (entry.path().extension() == ".json") descriptions.push_back(entry.path());
  }
  std::ranges::sort(descriptions);
  if (!descriptions.empty()) where.description = read_json_or_null(descriptions.front());
  std::vector<FoundPoint> out;
  for (const fs::path& point : folders_in(root / "results")) {
    if (number_in(point.filename().string()) < 1) continue;
    where.folder = point;
    auto found = read_point(where, options, edition);
    if (!found) {
      notes.push_back(format("{}: left out: {}", point.string(), found.error().message));
      continue;
    }
    CurveFacts& curve = found->curve;
    curve.submission = clean_name(whole.parent_path().parent_path().filename().string());
    if (curve.system.organisation.empty()) curve.system.organisation = curve.submission;
    out.push_back(std::move(*found));
  }
  return out;
}

}  // namespace

Json findings_below(const rules::CheckReport& report, const std::string& folder) {
  Json out = Json::array();
  for (const rules::Finding& finding : report.findings) {
    if (!finding.where.file.starts_with(folder + "/") && finding.where.file != folder) continue;
    Json one;
    one.set("rule", finding.rule).set("severity", rules::to_string(finding.severity));
    one.set("message", finding.expected.empty()
                           ? finding.found
                           : format("{}; expected: {}", finding.found, finding.expected));
    one.set("clause", finding.clause).set("path", finding.where.file);
    if (!finding.fix.empty()) one.set("fix", finding.fix);
    out.push_back(std::move(one));
  }
  return out;
}

std::string submission_layout(const fs::path& folder) {
  if (fs::is_directory(folder / "pareto") || is_published(folder)) return "v0.7";
  for (const fs::path& system : folders_in(folder / "results")) {
    for (const fs::path& model : folders_in(system)) {
      for (const fs::path& point : folders_in(model)) {
        if (fs::exists(point / "point.yaml") || fs::exists(point / "result_summary.json")) {
          return "v1.0";
        }
      }
    }
  }
  return {};
}

Result<std::vector<FoundPoint>> read_submission(const fs::path& root, const ImportOptions& options,
                                                std::vector<std::string>& notes) {
  const std::string layout = submission_layout(root);
  const bool old = layout == "v0.7";
  ASSIGN_OR_RETURN(const rulebook::Edition edition, rulebook::edition_named(old ? "v0.7" : "v1.0"));
  if (is_published(root)) return read_published(root, options, edition, notes);
  std::vector<FoundPoint> out;
  for (const fs::path& system : folders_in(root / (old ? "pareto" : "results"))) {
    Where where{.root = root, .layout = layout, .system = system.filename().string()};
    where.power = read_json_or_null(system / "system_power.json");
    if (old) where.description = read_json_or_null(root / "systems" / (where.system + ".json"));
    for (const fs::path& model : folders_in(system)) {
      where.model = model.filename().string();
      std::vector<fs::path> points;
      points_below(model, old ? 4 : 1, points);
      for (const fs::path& point : points) {
        where.folder = point;
        auto found = read_point(where, options, edition);
        if (found) {
          out.push_back(std::move(*found));
        } else {
          notes.push_back(format("{}: left out: {}", point.string(), found.error().message));
        }
      }
    }
  }
  if (!old) add_findings(root, layout, out);
  return out;
}

}  // namespace assay::explorer
