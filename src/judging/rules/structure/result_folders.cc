#include <algorithm>
#include <vector>

#include "base/text.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_benchmark_model_dir(const Scope& at, Out& out) {
  if (at.system->curves.empty()) {
    out.error({at.system->path}, "no model in the system's folder",
              at.system->path + "/<model_name>/");
  }
}

void check_point_dirs(const Scope& at, Out& out) {
  if (at.curve->points.empty()) {
    out.error({at.curve->path}, "no folder r<N>", at.curve->path + "/r<concurrency>/");
  }
}

void check_measurement_points_present(const Scope& at, Out& out) {
  int usable = 0;
  for (const PointFolder& point : at.curve->points) {
    usable += point.usable() ? 1 : 0;
    if (point.point.absent()) out.error({point.path}, "no point.yaml", point.path + "/point.yaml");
  }
  if (usable == 0)
    out.error({at.curve->path}, "no point whose point.yaml can be used", "one or more");
}

void check_result_summary_present(const Scope& at, Out& out) {
  if (at.point->summary.absent()) {
    out.error({at.point->path}, "no result_summary.json", at.point->path + "/result_summary.json");
  }
}

void check_config_file_present(const Scope& at, Out& out) {
  if (at.tree.pareto) return out.not_applicable();
  const Document& config = at.point->config;
  const std::string path = at.point->path + "/config.yaml";
  if (config.absent()) {
    out.error({at.point->path}, "no config.yaml", path);
  } else if (!config.good()) {
    out.error(config.place(), config.trouble(), "the settings of the run, in YAML");
  } else if (!config.root().is_object()) {
    out.error(config.place(), "the file holds no settings", "a map of settings, in YAML");
  }
}

void check_shared_path_resolution(const Scope& at, Out& out) {
  for (const std::string_view name : {"/shared_src", "/shared_docs"}) {
    const Json& value = at.point->point.at(name);
    if (!value.is_string()) continue;
    const std::string_view path = value.as_string();
    const std::vector<std::string_view> steps = split(path, '/');
    const bool leads_out = path.empty() || path.front() == '/' || path.front() == '~' ||
                           std::ranges::count(steps, "..") > 0;
    if (leads_out || !at.tree.folder(path)) {
      out.error(at.point->point.place(name), format("{} is {}", spoken(name), said(value)),
                "a folder of the submission, without .. or ~");
    }
  }
}

void check_point_dirname_concurrency(const Scope& at, Out& out) {
  if (at.point->concurrency != at.point->named_concurrency) {
    out.warning(at.point->point.place("/concurrency"),
                format("concurrency {} in a folder {}", at.point->concurrency, at.point->name),
                format("r{}", at.point->concurrency));
  }
}

void check_point_rules_skipped(const Scope& at, Out& out) {
  if (!at.point->usable()) {
    out.warning({at.point->path + "/point.yaml"},
                "point.yaml can't be used: the rules on what it declares were not asked",
                "a point.yaml that point-config-valid accepts");
  }
}

void check_system_dirname(const Scope& at, Out& out) {
  if (at.system->described == nullptr) return out.not_applicable();
  const Document& description = at.system->described->description;
  std::string name(description.at("/system_name").as_string());
  std::ranges::replace(name, ' ', '_');
  if (!name.empty() && name != at.system->name) {
    out.warning(description.place("/system_name"),
                format("system_name {} in a folder {}", said(description.at("/system_name")),
                       at.system->name),
                "results/" + name);
  }
}

constexpr Rule kResultFolderRules[] = {
    {.id = "benchmark-model-dir",
     .level = Level::system,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "a system holds at least one model",
     .fix = "results/<system>/<model_name>/",
     .check = check_benchmark_model_dir},
    {.id = "point-dirs",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "a model holds points, in folders r<concurrency>",
     .fix = "one folder r<N> for each measured concurrency",
     .check = check_point_dirs},
    {.id = "measurement-points-present",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "each point has its point.yaml",
     .fix = "write point.yaml beside result_summary.json; `assay curve` does",
     .check = check_measurement_points_present},
    {.id = "result-summary-present",
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "each point has its result_summary.json",
     .fix = "copy performance/result_summary.json from the run folder",
     .check = check_result_summary_present},
    {.id = "config-file-present",
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "each point has the config.yaml with which its client ran",
     .fix = "copy config.yaml from the run folder, keys as <redacted>; `assay pack` does",
     .check = check_config_file_present},
    {.id = "shared-path-resolution",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§9.1: Shared path resolution",
     .demand = "shared_src and shared_docs are folders below the root",
     .fix = "name a folder relative to the submission's root, such as src/vllm",
     .check = check_shared_path_resolution},
    {.id = "point-dirname-concurrency",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§8.1: Submission completeness",
     .demand = "the folder r<N> is named by the point's concurrency",
     .fix = "rename the folder",
     .check = check_point_dirname_concurrency},
    {.id = "point-rules-skipped",
     .severity = Severity::warning,
     .clause = "§8.1: Submission completeness",
     .demand = "a point's declarations can be judged",
     .fix = "mend point.yaml first and check again",
     .check = check_point_rules_skipped},
    {.id = "system-dirname",
     .level = Level::system,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§8.1: Submission completeness",
     .demand = "the system's folder is its system_name, with _ for spaces",
     .fix = "rename the folder, or the system",
     .check = check_system_dirname},
};

}  // namespace

std::span<const Rule> result_folder_rules() { return kResultFolderRules; }

}  // namespace assay::rules
