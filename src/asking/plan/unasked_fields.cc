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

void leave_out(const std::vector<std::string>& fields, PlanBundle& bundle) {
  for (PlannedDataset& planned : bundle.datasets) {
    Json& body = planned.generation.extra_body;
    if (body.is_null() && !fields.empty()) body = Json::object();
    for (const std::string& field : fields) {
      // extra_body's null removes what stands there.
      if (body.find(field) == nullptr) body.set(field, Json());
    }
  }
}

}  // namespace assay::plan
