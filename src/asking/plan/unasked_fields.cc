#include "plan/unasked_fields.h"

namespace assay::plan {

std::vector<std::string> unasked_fields(const Config& config) {
  const ModelParams& params = config.model_params;
  const ModelParams defaults;
  std::vector<std::string> out;
  const auto add = [&](const char* field, bool asked) {
    if (!asked && params.extra_body.find(field) == nullptr) out.emplace_back(field);
  };
  add("ignore_eos", params.ignore_eos.has_value());
  add("min_tokens", params.min_new_tokens != defaults.min_new_tokens);
  add("skip_special_tokens", params.skip_special_tokens != defaults.skip_special_tokens);
  add("stream_options", false);
  return out;
}

std::string other_limit_field(const Config& config) {
  constexpr std::string_view kNames[] = {"max_completion_tokens", "max_tokens"};
  const std::string_view own = own_limit_field(config.endpoint_config.api_type);
  if (own.empty()) return {};
  for (const std::string_view name : kNames) {
    if (config.model_params.extra_body.find(name) != nullptr) return {};
  }
  return std::string(own == kNames[0] ? kNames[1] : kNames[0]);
}

Adaptation adaptation_of(const Json& preflight) {
  Adaptation out{.limit_field = std::string(preflight["limit_field"].as_string())};
  for (const Json& field : preflight["left_out"].items()) {
    out.left_out.emplace_back(field.as_string());
  }
  return out;
}

void adapt(const Adaptation& to, PlanBundle& bundle) {
  leave_out(to.left_out, bundle);
  for (PlannedDataset& planned : bundle.datasets) planned.generation.limit_field = to.limit_field;
}

void leave_out(const std::vector<std::string>& fields, PlanBundle& bundle) {
  for (PlannedDataset& planned : bundle.datasets) {
    Json& body = planned.generation.extra_body;
    if (body.is_null() && !fields.empty()) body = Json::object();
    for (const std::string& field : fields) {
      // A null in extra_body removes the field.
      if (body.find(field) == nullptr) body.set(field, Json());
    }
  }
}

}  // namespace assay::plan
