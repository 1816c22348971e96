#include <algorithm>
#include <utility>
#include <vector>

#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_model_name_valid(const Scope& at, Out& out) {
  std::vector<std::pair<std::string, Place>> names{{at.curve->model, {at.curve->path}}};
  for (const PointFolder& point : at.curve->points) {
    const Json& name = point.point.at("/model_name");
    if (!point.usable() || !name.is_string()) continue;
    const auto known = [&](const auto& pair) { return pair.first == name.as_string(); };
    if (std::ranges::none_of(names, known)) {
      names.emplace_back(name.as_string(), point.point.place("/model_name"));
    }
  }
  std::string all;
  for (const rulebook::Benchmark& one : at.tree.edition.benchmarks) {
    all += (all.empty() ? "" : ", ") + std::string(one.name);
  }
  // A curve without tokens has no benchmark to name: it is judged by what it has.
  const auto has_unit = [](const PointFolder& point) { return !point.metrics.unit.empty(); };
  const bool units = !at.curve->points.empty() && std::ranges::all_of(at.curve->points, has_unit);
  for (const auto& [name, where] : names) {
    if (at.tree.edition.benchmark(name) != nullptr) continue;
    const rulebook::Benchmark* meant = at.tree.edition.benchmark_like(name);
    if (units && meant == nullptr) {
      out.warning(where,
                  format("'{}': no benchmark of this edition is of {}s", name,
                         at.curve->points.front().metrics.unit),
                  "one of " + all);
      continue;
    }
    out.error(where, format("a model called '{}'", name),
              meant == nullptr ? "one of " + all : format("'{}'", meant->name));
  }
}

void check_model_name_consistency(const Scope& at, Out& out) {
  const Json& name = at.point->point.at("/model_name");
  if (!name.is_string()) {
    out.warning(at.point->point.place(), "model_name is missing", format("'{}'", at.curve->model));
  } else if (name.as_string() != at.curve->model) {
    out.error(at.point->point.place("/model_name"), format("model_name is {}", said(name)),
              format("'{}', as the folder", at.curve->model));
  }
}

constexpr Rule kModelNameRules[] = {
    {.id = "model-name-valid",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§3.2: Submission completeness",
     .demand = "the model is one of the benchmark's names",
     .fix = "use the canonical spelling, in point.yaml and as the folder's name",
     .check = check_model_name_valid},
    {.id = "model-name-consistency",
     .needs = Needs::usable_point,
     .action = Action::flag,
     .clause = "§8.1: Configuration consistency",
     .demand = "model_name is the name of the folder",
     .fix = "one spelling for both",
     .check = check_model_name_consistency},
};

}  // namespace

std::span<const Rule> model_name_rules() { return kModelNameRules; }

}  // namespace assay::rules
