#include "rules/schemas.h"

#include <array>
#include <limits>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "rulebook/edition.h"
#include "rulebook/regions.h"
#include "rules/calendar.h"

namespace assay::rules {
namespace {

bool blank(std::string_view text) { return trim(text).empty(); }

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr double kConcurrencyTop = 1e9;

constexpr std::array kPointFields{
    Field{"/concurrency", Shape::integer, true, 1, kConcurrencyTop},
    Field{"/region", Shape::text},
    Field{"/dataset", Shape::text, true},
    Field{"/n_samples_from_dataset", Shape::integer, false, 1},
    Field{"/runtime_settings", Shape::map, true},
    Field{"/runtime_settings/load_pattern", Shape::text},
    Field{"/runtime_settings/min_duration_ms", Shape::integer, false, 0},
    Field{"/runtime_settings/min_sample_count", Shape::integer, false, 0},
    Field{"/runtime_settings/stream_all_chunks", Shape::boolean},
    Field{"/runtime_settings/runtime", Shape::map, true},
    Field{"/runtime_settings/runtime/scheduler_rng_seed", Shape::seed},
    Field{"/runtime_settings/runtime/sample_index_rng_seed", Shape::seed},
    Field{"/runtime_settings/runtime/model_seed", Shape::seed},
    Field{"/runtime_settings/runtime/scheduler_random_seed", Shape::seed},
    Field{"/runtime_settings/runtime/dataloader_random_seed", Shape::seed},
    Field{"/runtime_settings/warmup", Shape::map},
    Field{"/runtime_settings/warmup/salt", Shape::boolean},
    Field{"/runtime_settings/agentic_inference", Shape::map},
    Field{"/runtime_settings/agentic_inference/enable_salt", Shape::boolean},
    Field{"/runtime_settings/agentic_inference/inject_tool_delay", Shape::boolean},
    Field{"/runtime_settings/agentic_inference/stop_issuing_on_first_user_complete",
          Shape::boolean},
    Field{"/runtime_settings/agentic_inference/num_trajectories_to_issue", Shape::integer, false,
          1},
    Field{"/division", Shape::text},
    Field{"/max_supported_concurrency", Shape::integer, false, 1, kConcurrencyTop},
    Field{"/model_name", Shape::text},
    Field{"/model_precision", Shape::text},
    Field{"/link_to_model", Shape::text},
    Field{"/dataset_name", Shape::text},
    Field{"/dataset_type", Shape::text},
    Field{"/dataset_link", Shape::text},
    Field{"/offline", Shape::text},
    Field{"/steady_state", Shape::map},
    Field{"/steady_state/window", Shape::map},
    Field{"/steady_state/window/super_pass_start", Shape::integer, false, 0},
    Field{"/steady_state/window/super_pass_end", Shape::integer, false, 0},
    Field{"/steady_state/window/super_pass_size", Shape::integer, false, 1},
    Field{"/steady_state/window/n_samples", Shape::integer, false, 0},
    Field{"/steady_state/window/duration_s", Shape::number, false, 0},
    Field{"/steady_state/state", Shape::map},
    Field{"/speculative_decoding", Shape::map},
    Field{"/nodes_used", Shape::list},
    Field{"/dp_shortfall", Shape::map},
    Field{"/dp_shortfall/dp_actual", Shape::integer, false, 1},
    Field{"/dp_shortfall/dp_formula", Shape::integer, false, 1},
    Field{"/dp_shortfall/reason", Shape::text},
    Field{"/shared_src", Shape::text},
    Field{"/shared_docs", Shape::text},
    Field{"/seed_set", Shape::text_or_number},
    Field{"/target_cohort", Shape::text},
};

constexpr double kWarmupSecondsMax = 86'400;
constexpr std::array kWarmupFields{
    Field{"/duration_s", Shape::number, true, 0, kWarmupSecondsMax},
    Field{"/requests_issued", Shape::integer, true, 0},
    Field{"/requests_completed", Shape::integer, true, 0},
    Field{"/data_source", Shape::text, true},
    Field{"/concurrency", Shape::integer, true, 0},
    Field{"/initialization_steps", Shape::list},
    Field{"/logs_retained", Shape::boolean},
    Field{"/link_logs", Shape::text},
};

constexpr std::array kNodesUsedFields{
    Field{"/system_node_ensemble_id", Shape::digits, true},
    Field{"/nodes", Shape::integer, true},
};

constexpr std::array kDescriptionFields{
    Field{"/division", Shape::text, true},
    Field{"/system_name", Shape::text, true},
    Field{"/shortened_system_name", Shape::text, true},
    Field{"/system_size", Shape::text, true},
    Field{"/system_node_ensemble_count", Shape::integer, true, 1},
    Field{"/system_node_ensemble_total", Shape::integer, true, 1},
    Field{"/max_supported_concurrency", Shape::integer, true, 1, kConcurrencyTop},
    Field{"/endpoint_url", Shape::text},
    Field{"/serving_framework", Shape::text},
    Field{"/node_types", Shape::list, true},
    Field{"/system_category", Shape::text},
    Field{"/availability_url", Shape::text},
    Field{"/target_availability_date", Shape::text},
    Field{"/node_config", Shape::text},
    Field{"/config_summary_notes", Shape::text},
    Field{"/config_summary", Shape::text_or_map},
    Field{"/disaggregated", Shape::on_off, false, 0, 1},
    Field{"/tensor_parallel", Shape::integer, false, 1},
    Field{"/pipeline_parallel", Shape::integer, false, 1},
    Field{"/expert_parallel", Shape::integer, false, 1},
    Field{"/data_parallel", Shape::integer, false, 1},
    Field{"/batch", Shape::integer, false, 1},
    Field{"/tps_utilization", Shape::number, false, 0},
};

constexpr std::array kNodeTypeFields{
    Field{"/system_node_ensemble_id", Shape::digits, true},
    Field{"/number_of_nodes", Shape::integer, true, 1},
    Field{"/host_processor_model_name", Shape::text, true},
    Field{"/host_processors_per_node", Shape::integer, true, 1},
    Field{"/host_processor_core_count", Shape::integer, false, 1},
    Field{"/host_processor_vcpu_count", Shape::integer, false, 1},
    Field{"/host_memory_capacity", Shape::text, true},
    Field{"/host_memory_configuration", Shape::text, true},
    Field{"/accelerator_info", Shape::list, true},
    Field{"/host_network_card_count", Shape::text, true},
    Field{"/driver", Shape::text, true},
    Field{"/filesystem", Shape::text, true},
    Field{"/host_networking", Shape::text},
    Field{"/host_storage_capacity", Shape::text},
    Field{"/host_storage_type", Shape::text},
    Field{"/other_hardware", Shape::text},
    Field{"/hw_notes", Shape::text},
    Field{"/cooling", Shape::text},
    Field{"/inference_backend", Shape::text},
    Field{"/operating_system", Shape::text},
    Field{"/container_link", Shape::text},
    Field{"/other_software_stack", Shape::text},
    Field{"/sw_notes", Shape::text},
};

constexpr std::array kAcceleratorFields{
    Field{"/accelerator_model_name", Shape::text, true},
    Field{"/accelerators_per_node", Shape::integer, true, 0},
    Field{"/accelerator_memory_capacity", Shape::text},
    Field{"/accelerator_memory_type", Shape::text},
    Field{"/accelerator_interconnect", Shape::text},
    Field{"/accelerator_host_interconnect", Shape::text},
};

constexpr std::array kSummaryFields{
    Field{"/n_samples_completed", Shape::integer, true},
    Field{"/n_samples_issued", Shape::integer},
    Field{"/n_samples_failed", Shape::integer},
    Field{"/duration_ns", Shape::number, true},
    Field{"/ttft", Shape::map},
    Field{"/tpot", Shape::map},
    Field{"/latency", Shape::map},
    Field{"/output_sequence_lengths", Shape::map},
    Field{"/system_tps", Shape::number},
    Field{"/tps_per_user", Shape::number},
    Field{"/system_tps_per_kw", Shape::number},
    Field{"/e2e_avg_interactivity", Shape::number},
    Field{"/output_tokens_per_turn_total", Shape::number},
    Field{"/e2e_turn_time_seconds_total", Shape::number},
    Field{"/output_sequence_lengths_full_run", Shape::map},
};

constexpr std::array kOldPointFields{
    Field{"/concurrency", Shape::integer, true, 1, kConcurrencyTop},
    Field{"/region", Shape::text},
    Field{"/dataset", Shape::text},
    Field{"/runtime_settings", Shape::map},
    Field{"/runtime_settings/load_pattern", Shape::text},
    Field{"/runtime_settings/min_duration_ms", Shape::integer, false, 0},
    Field{"/runtime_settings/stream_all_chunks", Shape::boolean},
};

constexpr std::array kOldDescriptionFields{
    Field{"/division", Shape::text, true},
    Field{"/benchmark_model", Shape::text, true},
    Field{"/max_supported_concurrency", Shape::integer, true, rulebook::kUltraLowMax + 1,
          kConcurrencyTop},
    Field{"/endpoint_url", Shape::text, true},
    Field{"/serving_framework", Shape::text, true},
    Field{"/submitter", Shape::text, true},
    Field{"/system_name", Shape::text, true},
    Field{"/system_type", Shape::text, true},
    Field{"/system_type_detail", Shape::text, true},
    Field{"/number_of_nodes", Shape::integer, true, 1},
    Field{"/host_processors_per_node", Shape::integer, true, 1},
    Field{"/host_processor_model_name", Shape::text, true},
    Field{"/host_processor_core_count", Shape::integer},
    Field{"/host_processor_vcpu_count", Shape::integer},
    Field{"/host_memory_capacity", Shape::text, true},
    Field{"/host_storage_type", Shape::text, true},
    Field{"/host_storage_capacity", Shape::text, true},
    Field{"/host_networking", Shape::text, true},
    Field{"/host_networking_topology", Shape::text, true},
    Field{"/accelerators_per_node", Shape::integer, true, 0},
    Field{"/accelerator_model_name", Shape::text, true},
    Field{"/accelerator_memory_capacity", Shape::text, true},
    Field{"/operating_system", Shape::text, true},
};

// A present field must have a value: the reference's readers take a null for a wrong kind.
void refuse_nulls(const Json& json, std::string_view base,
                  std::initializer_list<std::string_view> names, std::vector<Issue>& issues) {
  for (const std::string_view name : names) {
    const Json* value = json.find(name);
    if (value == nullptr || !value->is_null()) continue;
    const std::string pointer = pointer_to(base, name);
    issues.push_back({pointer, format("{} is null", spoken(pointer)), "a value, or no such field"});
  }
}

void each_is_text(const Json& values, std::string_view base, std::vector<Issue>& issues) {
  const auto judge = [&](const Json& value, const std::string& pointer) {
    if (value.is_string()) return;
    issues.push_back({pointer, format("{} is {}", spoken(pointer), said(value)), "text"});
  };
  for (std::size_t i = 0; i < values.items().size(); ++i) {
    judge(values.items()[i], pointer_to(base, i));
  }
  for (const auto& [name, value] : values.members()) judge(value, pointer_to(base, name));
}

void check_warmup(const Json& warmup, std::vector<Issue>& issues) {
  check_fields(warmup, "/warmup", kWarmupFields, issues);
  each_is_text(warmup["initialization_steps"], "/warmup/initialization_steps", issues);
  if (warmup["data_source"].is_string() && warmup["data_source"].as_string().empty()) {
    issues.push_back(
        {"/warmup/data_source", "warmup.data_source is empty", "where the data are from"});
  }
  const double completed = warmup["requests_completed"].as_double();
  if (completed > warmup["requests_issued"].as_double(kAny)) {
    issues.push_back({"/warmup/requests_completed",
                      format("{} completed of {} issued", warmup["requests_completed"].dump(),
                             warmup["requests_issued"].dump()),
                      "no more than were issued"});
  }
  const bool anything = warmup["duration_s"].as_double() > 0 ||
                        warmup["requests_issued"].as_double() > 0 || completed > 0;
  if (anything && warmup["concurrency"].is_number() && warmup["concurrency"].as_double() == 0) {
    issues.push_back({"/warmup/concurrency", "warmup.concurrency is 0, but something was done",
                      "1 or more, or 0 everywhere"});
  }
}

void one_of(const Json& value, std::string_view pointer,
            std::initializer_list<std::string_view> words, std::vector<Issue>& issues) {
  if (!value.is_string()) return;
  const std::string word = lower(value.as_string());
  std::string list;
  for (const std::string_view one : words) {
    if (word == lower(one)) return;
    list += (list.empty() ? "" : ", ") + std::string(one);
  }
  issues.push_back({std::string(pointer), format("{} is {}", spoken(pointer), said(value)), list});
}

// Checks the status under its three names, which must agree.
void check_availability(const Json& description, std::vector<Issue>& issues) {
  std::string status;
  for (const std::string_view name :
       {"system_availability_status", "publication_status", "availability_status"}) {
    const Json& value = description[name];
    if (!value.is_string()) continue;
    const std::string pointer = pointer_to("", name);
    one_of(value, pointer, {"Available", "Preview", "RDI"}, issues);
    const std::string word = lower(value.as_string());
    if (!status.empty() && status != word) {
      issues.push_back({pointer, format("{} is {}", name, said(value)),
                        format("'{}', as under its other name", status)});
    }
    status = word;
  }
  if (status.empty()) {
    issues.push_back({"/system_availability_status", "system_availability_status is missing",
                      "Available, Preview or RDI"});
  }
  if (status == "available" && blank(description["availability_url"].as_string())) {
    issues.push_back({"/availability_url", "availability_url is missing",
                      "where the system can be had, since it is Available"});
  }
  const std::string_view date = description["target_availability_date"].as_string();
  constexpr std::size_t kDateSize = 10;  // without a time after it
  const bool dated = date.size() == kDateSize && Day::parse(date).has_value();
  if (status == "preview" ? !dated : !blank(date) && !dated) {
    issues.push_back({"/target_availability_date", format("target_availability_date is '{}'", date),
                      status == "preview" ? "a date (2027-04-19), since the system is Preview"
                                          : "a date (2027-04-19), or nothing"});
  }
}

void check_percentiles(const Json& block, std::string_view base, std::vector<Issue>& issues) {
  std::map<double, double> seen;
  const Json& percentiles = block["percentiles"];
  const std::string at = std::string(base) + "/percentiles";
  if (!percentiles.is_object() && block.find("percentiles") != nullptr) {
    issues.push_back({at, format("{} is {}", spoken(at), said(percentiles)), "a map"});
  }
  for (const auto& [key, value] : percentiles.members()) {
    const std::string pointer = pointer_to(at, key);
    const auto number = parse_double(key);
    if (!number || !(*number >= 0 && *number <= 100)) {
      issues.push_back(
          {pointer, format("a percentile called '{}'", key), "a number from 0 to 100"});
      continue;
    }
    if (!value.is_number()) {
      issues.push_back({pointer, format("{} is {}", spoken(pointer), said(value)), "a number"});
      continue;
    }
    const auto [other, fresh] = seen.emplace(*number, value.as_double());
    if (!fresh && other->second != value.as_double()) {
      issues.push_back({pointer, format("{} is {}", spoken(pointer), said(value)),
                        format("{}, as the same percentile's other key says", other->second)});
    }
  }
}

}  // namespace

std::vector<Issue> point_issues(const Json& point) {
  std::vector<Issue> issues;
  if (!point.is_object()) {
    issues.push_back({"", format("the file holds {}", said(point)), "a map of settings"});
    return issues;
  }
  check_fields(point, "", kPointFields, issues);
  if (const Json* warmup = point.find("warmup"); warmup != nullptr && !warmup->is_null()) {
    check_warmup(*warmup, issues);
  }
  refuse_nulls(point["runtime_settings"], "/runtime_settings",
               {"load_pattern", "min_duration_ms", "stream_all_chunks"}, issues);
  refuse_nulls(point["warmup"], "/warmup", {"initialization_steps"}, issues);
  refuse_nulls(point["steady_state"], "/steady_state", {"window", "state"}, issues);
  each_is_text(point["steady_state"]["state"], "/steady_state/state", issues);
  one_of(point["division"], "/division", {"Standardized", "Serviced", "RDI"}, issues);
  one_of(point["dataset_type"], "/dataset_type",
         {"Accuracy", "Performance", "Accuracy + Performance"}, issues);
  const Json& used = point["nodes_used"];
  for (std::size_t i = 0; i < used.size(); ++i) {
    check_fields(used[i], pointer_to("/nodes_used", i), kNodesUsedFields, issues);
  }
  return issues;
}

std::vector<Issue> description_issues(const Json& description) {
  std::vector<Issue> issues;
  if (!description.is_object()) {
    issues.push_back({"", format("the file holds {}", said(description)), "an object"});
    return issues;
  }
  check_fields(description, "", kDescriptionFields, issues);
  one_of(description["division"], "/division", {"Standardized", "Serviced", "RDI"}, issues);
  check_availability(description, issues);
  const std::string_view short_name = description["shortened_system_name"].as_string();
  const bool named = description["shortened_system_name"].is_string();
  if (named && (blank(short_name) || character_count(short_name) > rulebook::kShortSystemNameMax)) {
    issues.push_back(
        {"/shortened_system_name",
         format("shortened_system_name is {}", said(description["shortened_system_name"])),
         "1 to 20 characters"});
  }
  constexpr std::size_t kSummaryTextMin = 4;
  const Json& summary = description["config_summary"];
  if (summary.is_string() && character_count(summary.as_string()) < kSummaryTextMin) {
    issues.push_back({"/config_summary", format("config_summary is {}", said(summary)),
                      "a map, or 4 characters and more"});
  }
  const Json& types = description["node_types"];
  if (types.is_array() && types.size() == 0) {
    issues.push_back({"/node_types", "node_types is empty", "one or more node types"});
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string at = pointer_to("/node_types", i);
    check_fields(types[i], at, kNodeTypeFields, issues);
    if (types[i]["host_processor_core_count"].is_null() &&
        types[i]["host_processor_vcpu_count"].is_null()) {
      issues.push_back({at, "no count of cores or virtual CPUs",
                        "host_processor_core_count or host_processor_vcpu_count"});
    }
    const Json& accelerators = types[i]["accelerator_info"];
    for (std::size_t k = 0; k < accelerators.size(); ++k) {
      check_fields(accelerators[k], pointer_to(at + "/accelerator_info", k), kAcceleratorFields,
                   issues);
    }
  }
  return issues;
}

std::vector<Issue> old_point_issues(const Json& point) {
  std::vector<Issue> issues;
  if (!point.is_object()) {
    issues.push_back({"", format("the file holds {}", said(point)), "a map of settings"});
    return issues;
  }
  check_fields(point, "", kOldPointFields, issues);
  return issues;
}

std::vector<Issue> old_description_issues(const Json& description) {
  std::vector<Issue> issues;
  if (!description.is_object()) {
    issues.push_back({"", format("the file holds {}", said(description)), "an object"});
    return issues;
  }
  check_fields(description, "", kOldDescriptionFields, issues);
  one_of(description["division"], "/division", {"Standardized", "Serviced", "RDI"}, issues);
  one_of(description["publication_status"], "/publication_status", {"Available", "Preview", "RDI"},
         issues);
  one_of(description["system_type"], "/system_type", {"datacenter", "edge"}, issues);
  if (description["host_processor_core_count"].is_null() &&
      description["host_processor_vcpu_count"].is_null()) {
    issues.push_back({"", "no count of cores or virtual CPUs",
                      "host_processor_core_count or host_processor_vcpu_count"});
  }
  return issues;
}

std::vector<Issue> summary_issues(const Json& summary) {
  std::vector<Issue> issues;
  if (!summary.is_object()) {
    issues.push_back({"", format("the file holds {}", said(summary)), "an object"});
    return issues;
  }
  check_fields(summary, "", kSummaryFields, issues);
  refuse_nulls(summary, "",
               {"n_samples_issued", "n_samples_failed", "ttft", "tpot", "latency",
                "output_sequence_lengths"},
               issues);
  for (const std::string_view block : {"/ttft", "/tpot", "/latency", "/output_sequence_lengths"}) {
    if (const Json* found = find(summary, block)) check_percentiles(*found, block, issues);
  }
  return issues;
}

std::optional<double> percentile(const Json& block, double at) {
  for (const auto& [key, value] : block["percentiles"].members()) {
    const auto number = parse_double(key);
    if (number && *number == at && value.is_number()) return value.as_double();
  }
  return std::nullopt;
}

}  // namespace assay::rules
