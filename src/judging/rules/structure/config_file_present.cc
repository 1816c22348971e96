#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule config_file_present() {
  return {.id = "config-file-present",
          .group = "structure",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "each point has the config.yaml with which its client ran",
          .fix = "copy config.yaml from the run folder, keys as <redacted>; `assay pack` does",
          .check = check_config_file_present};
}

}  // namespace assay::rules
