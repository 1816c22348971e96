// The catalogue: every rule, in the order of the report. A family of rules that look at the same
// thing is a table in <group>/<family>.cc; a rule on its own is a function in <group>/<id>.cc. A
// new rule is a row or a file with its line here, and a mutation in its group's
// testing_*_mutations.h (check_tree_test.cc fails without one).
#pragma once

#include <span>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

// structure
std::span<const Rule> tree_folder_rules();
std::span<const Rule> result_folder_rules();
Rule pareto_layout();

// system
std::span<const Rule> system_description_rules();
std::span<const Rule> model_name_rules();
std::span<const Rule> capacity_rules();
std::span<const Rule> power_rules();

// curve
std::span<const Rule> region_rules();
std::span<const Rule> offline_rules();
std::span<const Rule> coverage_rules();
std::span<const Rule> curve_point_rules();

// point
std::span<const Rule> point_config_rules();
std::span<const Rule> load_rules();
std::span<const Rule> run_length_rules();
std::span<const Rule> steady_state_rules();
std::span<const Rule> warmup_rules();
std::span<const Rule> config_consistency_rules();
Rule target_cohort();
Rule agentic_settings();
Rule secrets_redacted();
Rule responses_truncated();
Rule output_caching_audit();

// seeds
std::span<const Rule> seed_set_rules();
std::span<const Rule> drafter_rules();

// metrics
std::span<const Rule> metric_rules();
std::span<const Rule> nodes_engaged_rules();

// accuracy
std::span<const Rule> accuracy_run_rules();
Rule accuracy_gate();
std::span<const Rule> agentic_accuracy_rules();
Rule pareto_accuracy();

// review: for a person to look at, with evidence
std::span<const Rule> review_aids();

// plausibility: Assay's own, in no official checker
Rule plausible_runs();
Rule plausible_series();
Rule plausible_names();
Rule plausible_latency();
Rule plausible_load();
Rule plausible_secrets();
Rule plausible_documents();
Rule plausible_power();

const std::vector<Rule>& catalogue();

}  // namespace assay::rules
