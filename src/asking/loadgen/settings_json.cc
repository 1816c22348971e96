// TestSettings in JSON, written and read by one table of its fields.
#include <array>
#include <variant>

#include "base/format.h"
#include "loadgen/settings.h"

namespace assay::loadgen {
namespace {

using Member =
    std::variant<double TestSettings::*, std::uint64_t TestSettings::*, bool TestSettings::*>;
struct Field {
  std::string_view name{};
  Member member{};
};

const std::array kFields{
    Field{"single_stream_expected_latency_ns", &TestSettings::single_stream_expected_latency_ns},
    Field{"single_stream_target_latency_percentile",
          &TestSettings::single_stream_target_latency_percentile},
    Field{"multi_stream_expected_latency_ns", &TestSettings::multi_stream_expected_latency_ns},
    Field{"multi_stream_target_latency_percentile",
          &TestSettings::multi_stream_target_latency_percentile},
    Field{"multi_stream_samples_per_query", &TestSettings::multi_stream_samples_per_query},
    Field{"server_target_qps", &TestSettings::server_target_qps},
    Field{"server_target_latency_ns", &TestSettings::server_target_latency_ns},
    Field{"server_target_latency_percentile", &TestSettings::server_target_latency_percentile},
    Field{"server_coalesce_queries", &TestSettings::server_coalesce_queries},
    Field{"server_max_async_queries", &TestSettings::server_max_async_queries},
    Field{"offline_expected_qps", &TestSettings::offline_expected_qps},
    Field{"sample_concatenate_permutation", &TestSettings::sample_concatenate_permutation},
    Field{"min_duration_ms", &TestSettings::min_duration_ms},
    Field{"max_duration_ms", &TestSettings::max_duration_ms},
    Field{"min_query_count", &TestSettings::min_query_count},
    Field{"max_query_count", &TestSettings::max_query_count},
    Field{"qsl_rng_seed", &TestSettings::qsl_rng_seed},
    Field{"sample_index_rng_seed", &TestSettings::sample_index_rng_seed},
    Field{"schedule_rng_seed", &TestSettings::schedule_rng_seed},
    Field{"accuracy_log_rng_seed", &TestSettings::accuracy_log_rng_seed},
    Field{"accuracy_log_probability", &TestSettings::accuracy_log_probability},
    Field{"accuracy_log_sampling_target", &TestSettings::accuracy_log_sampling_target},
    Field{"test05", &TestSettings::test05},
    Field{"test05_qsl_rng_seed", &TestSettings::test05_qsl_rng_seed},
    Field{"test05_sample_index_rng_seed", &TestSettings::test05_sample_index_rng_seed},
    Field{"test05_schedule_rng_seed", &TestSettings::test05_schedule_rng_seed},
    Field{"print_timestamps", &TestSettings::print_timestamps},
    Field{"performance_issue_unique", &TestSettings::performance_issue_unique},
    Field{"performance_issue_same", &TestSettings::performance_issue_same},
    Field{"performance_issue_same_index", &TestSettings::performance_issue_same_index},
    Field{"performance_sample_count_override", &TestSettings::performance_sample_count_override},
    Field{"accuracy_sample_count_override", &TestSettings::accuracy_sample_count_override},
    Field{"use_token_latencies", &TestSettings::use_token_latencies},
    Field{"server_ttft_latency", &TestSettings::server_ttft_latency},
    Field{"server_tpot_latency", &TestSettings::server_tpot_latency},
    Field{"infer_token_latencies", &TestSettings::infer_token_latencies},
    Field{"token_latency_scaling_factor", &TestSettings::token_latency_scaling_factor},
};

Result<void> take(const Field& field, const Json& value, TestSettings& out) {
  if (const auto* real = std::get_if<double TestSettings::*>(&field.member)) {
    if (!value.is_number()) return invalid(format("{}: must be a number", field.name));
    out.*(*real) = value.as_double();
  } else if (const auto* flag = std::get_if<bool TestSettings::*>(&field.member)) {
    if (!value.is_bool()) return invalid(format("{}: must be true or false", field.name));
    out.*(*flag) = value.as_bool();
  } else {
    constexpr std::uint64_t kOther = ~std::uint64_t{0};
    const bool whole = value.is_integer() && value.as_uint(kOther) == value.as_uint(0);
    if (!whole) return invalid(format("{}: must be a whole number", field.name));
    out.*std::get<std::uint64_t TestSettings::*>(field.member) = value.as_uint();
  }
  return {};
}

}  // namespace

Json TestSettings::to_json() const {
  Json out = Json().set("scenario", to_string(scenario)).set("mode", to_string(mode));
  for (const Field& field : kFields) {
    std::visit([&](const auto member) { out.set(field.name, this->*member); }, field.member);
  }
  return out;
}

Result<TestSettings> TestSettings::from_json(const Json& json) {
  if (!json.is_object()) return invalid("LoadGen's settings: must be an object");
  TestSettings out;
  const auto scenario = scenario_named(json["scenario"].as_string());
  const auto mode = mode_named(json["mode"].as_string());
  if (!scenario) return invalid("scenario: is none of LoadGen's");
  if (!mode) return invalid("mode: is none of LoadGen's");
  out.scenario = *scenario;
  out.mode = *mode;
  for (const Field& field : kFields) {
    if (const Json* const value = json.find(field.name)) TRY(take(field, *value, out));
  }
  return out;
}

}  // namespace assay::loadgen
