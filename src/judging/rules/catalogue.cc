#include "rules/catalogue.h"

#include <initializer_list>

namespace assay::rules {
namespace {

void add(std::vector<Rule>& all, std::initializer_list<Rule> group) {
  all.insert(all.end(), group.begin(), group.end());
}

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  add(all, {path_exists(), tree_readable(), required_dir(), src_dir(), src_readme(),
            system_results_dir(), benchmark_model_dir(), point_dirs(), measurement_points_present(),
            result_summary_present(), config_file_present(), shared_path_resolution(),
            point_dirname_concurrency(), point_rules_skipped(), system_dirname(), pareto_layout()});
  add(all, {system_description_present(), system_description_valid(),
            system_description_consistency(), model_name_valid(), model_name_consistency(),
            max_concurrency_declared(), tps_utilization(), power_descriptor(), power_estimated()});
  add(all, {region_basis(), c_min_override(), region_computation(), concurrency_in_range(),
            region_declared(), region_placement(), offline_declared(), offline_point_present(),
            offline_ordering(), ultra_low_concurrency_coverage(), low_concurrency_coverage(),
            med_concurrency_coverage(), high_concurrency_coverage(), point_count(), point_cap(),
            benchmark_type_consistency()});
  add(all, {point_config_valid(),
            point_disclosure_complete(),
            load_pattern(),
            streaming_config(),
            point_duration(),
            min_query_count(),
            whole_passes(),
            run_complete(),
            steady_state_valid(),
            steady_state_consistency(),
            steady_state_basis(),
            warmup_present(),
            warmup_logs_retained(),
            warmup_salt(),
            config_consistency_model(),
            config_consistency_dataset(),
            target_cohort(),
            agentic_settings(),
            secrets_redacted(),
            responses_truncated(),
            output_caching_audit()});
  add(all, {seed_set_consistency(), seed_set_membership(), seed_runtime_match(),
            seed_set_adoption(), seed_config_legacy(), seed_set_registry(), drafter_list_registry(),
            approved_drafter(), drafter_approval_lead_time()});
  add(all, {result_file_valid(), metric_consistency_duration(), metric_consistency_accounting(),
            metric_consistency_output_tokens(), metric_consistency_system_tps(),
            metric_consistency_tps_per_user(), metric_consistency_units(),
            metric_consistency_tpot_p90(), metric_consistency_tps_per_kw(),
            agentic_metric_consistency(), token_evidence(), nodes_used(), maximal_engagement()});
  add(all, {accuracy_present(), accuracy_coverage(), accuracy_run_count(), accuracy_valid(),
            accuracy_sample_count(), accuracy_gate(), agentic_accuracy(), agentic_accuracy_inline(),
            agentic_accuracy_swebench(), agentic_osl_range(), pareto_accuracy()});
  add(all, {review_log_readable(), review_curve_shape(), review_uniform_ttft(),
            review_filler_first_tokens(), review_repeated_output(), review_warmup_overlap(),
            review_offline_pass_mixing()});
  add(all, {plausible_runs(), plausible_series(), plausible_latency(), plausible_load(),
            plausible_secrets(), plausible_documents(), plausible_power(), plausible_names()});
  return all;
}

}  // namespace

const std::vector<Rule>& catalogue() {
  static const std::vector<Rule> kRules = all_rules();
  return kRules;
}

}  // namespace assay::rules
