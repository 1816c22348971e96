#include "rules/catalogue.h"

#include <initializer_list>

namespace assay::rules {
namespace {

void add(std::vector<Rule>& all, std::string_view group, std::span<const Rule> family) {
  for (Rule rule : family) {
    rule.group = group;
    all.push_back(rule);
  }
}

void add(std::vector<Rule>& all, std::string_view group, std::initializer_list<Rule> single) {
  add(all, group, std::span(single.begin(), single.size()));
}

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  add(all, "structure", tree_folder_rules());
  add(all, "structure", result_folder_rules());
  add(all, "structure", {pareto_layout()});
  add(all, "system", system_description_rules());
  add(all, "system", model_name_rules());
  add(all, "system", capacity_rules());
  add(all, "system", power_rules());
  add(all, "curve", region_rules());
  add(all, "curve", offline_rules());
  add(all, "curve", coverage_rules());
  add(all, "curve", curve_point_rules());
  add(all, "point", point_config_rules());
  add(all, "point", load_rules());
  add(all, "point", run_length_rules());
  add(all, "point", steady_state_rules());
  add(all, "point", warmup_rules());
  add(all, "point", config_consistency_rules());
  add(all, "point",
      {target_cohort(), agentic_settings(), secrets_redacted(), responses_truncated(),
       output_caching_audit()});
  add(all, "seeds", seed_set_rules());
  add(all, "seeds", drafter_rules());
  add(all, "metrics", metric_rules());
  add(all, "metrics", nodes_engaged_rules());
  add(all, "accuracy", accuracy_run_rules());
  add(all, "accuracy", {accuracy_gate()});
  add(all, "accuracy", agentic_accuracy_rules());
  add(all, "accuracy", {pareto_accuracy()});
  add(all, "review", review_aids());
  add(all, "plausibility",
      {plausible_runs(), plausible_series(), plausible_latency(), plausible_load(),
       plausible_secrets(), plausible_documents(), plausible_power(), plausible_names()});
  return all;
}

}  // namespace

const std::vector<Rule>& catalogue() {
  static const std::vector<Rule> kRules = all_rules();
  return kRules;
}

}  // namespace assay::rules
