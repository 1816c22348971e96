// The catalogue: every rule, in the order of the report. Each function is in <group>/<id>.cc and
// returns its rule. A new rule is a file, a line here and a mutation in its group's
// testing_*_mutations.h (check_tree_test.cc fails without one).
#pragma once

#include <vector>

#include "rules/rule.h"

namespace assay::rules {

// structure
Rule path_exists();
Rule tree_readable();
Rule required_dir();
Rule src_dir();
Rule src_readme();
Rule system_results_dir();
Rule benchmark_model_dir();
Rule point_dirs();
Rule measurement_points_present();
Rule result_summary_present();
Rule config_file_present();
Rule shared_path_resolution();
Rule point_dirname_concurrency();
Rule point_rules_skipped();
Rule system_dirname();
Rule pareto_layout();

// system
Rule system_description_present();
Rule system_description_valid();
Rule system_description_consistency();
Rule model_name_valid();
Rule model_name_consistency();
Rule max_concurrency_declared();
Rule tps_utilization();
Rule power_descriptor();
Rule power_estimated();

// curve
Rule region_basis();
Rule c_min_override();
Rule region_computation();
Rule concurrency_in_range();
Rule region_declared();
Rule region_placement();
Rule offline_declared();
Rule offline_point_present();
Rule offline_ordering();
Rule ultra_low_concurrency_coverage();
Rule low_concurrency_coverage();
Rule med_concurrency_coverage();
Rule high_concurrency_coverage();
Rule point_count();
Rule point_cap();
Rule benchmark_type_consistency();

// point
Rule point_config_valid();
Rule point_disclosure_complete();
Rule load_pattern();
Rule streaming_config();
Rule point_duration();
Rule min_query_count();
Rule whole_passes();
Rule run_complete();
Rule steady_state_valid();
Rule steady_state_consistency();
Rule steady_state_basis();
Rule warmup_present();
Rule warmup_logs_retained();
Rule warmup_salt();
Rule config_consistency_model();
Rule config_consistency_dataset();
Rule target_cohort();
Rule agentic_settings();
Rule secrets_redacted();
Rule responses_truncated();
Rule output_caching_audit();

// seeds
Rule seed_set_consistency();
Rule seed_set_membership();
Rule seed_runtime_match();
Rule seed_set_adoption();
Rule seed_config_legacy();
Rule seed_set_registry();
Rule drafter_list_registry();
Rule approved_drafter();
Rule drafter_approval_lead_time();

// metrics
Rule result_file_valid();
Rule metric_consistency_duration();
Rule metric_consistency_accounting();
Rule metric_consistency_output_tokens();
Rule metric_consistency_system_tps();
Rule metric_consistency_tps_per_user();
Rule metric_consistency_units();
Rule metric_consistency_tpot_p90();
Rule metric_consistency_tps_per_kw();
Rule agentic_metric_consistency();
Rule token_evidence();
Rule nodes_used();
Rule maximal_engagement();

// accuracy
Rule accuracy_present();
Rule accuracy_coverage();
Rule accuracy_run_count();
Rule accuracy_valid();
Rule accuracy_sample_count();
Rule accuracy_gate();
Rule pareto_accuracy();
Rule agentic_accuracy();
Rule agentic_accuracy_inline();
Rule agentic_accuracy_swebench();
Rule agentic_osl_range();

// review: for a person to look at, with evidence
Rule review_log_readable();
Rule review_curve_shape();
Rule review_uniform_ttft();
Rule review_filler_first_tokens();
Rule review_repeated_output();
Rule review_warmup_overlap();
Rule review_offline_pass_mixing();

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
