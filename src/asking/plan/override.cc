#include "plan/override.h"

#include "base/format.h"
#include "plan/settings.h"

namespace assay::plan {

Json deep_merge(Json under, const Json& over) {
  if (!under.is_object() || !over.is_object()) return over;
  for (const auto& [name, value] : over.members()) {
    const Json* present = under.find(name);
    under.set(name, present == nullptr ? value : deep_merge(*present, value));
  }
  return under;
}

ModelParams merged_params(const ModelParams& params, const Json& override_json,
                          const std::string& path, std::vector<Problem>& problems) {
  if (override_json.is_null()) return params;
  for (const char* name : {"name", "streaming", "tokenizer_name"}) {
    if (override_json.find(name) == nullptr) continue;
    problems.push_back({"", format("{}.{}", path, name), "cannot differ from dataset to dataset",
                        "set it in model_params, for all of them"});
  }
  Json merged = deep_merge(write_part(model_params_part(), &params), override_json);
  ModelParams out;
  Reading reading;
  read_part(model_params_part(), yaml::Node::from_json(merged), &out, path, reading);
  for (Problem& problem : reading.problems) problems.push_back(std::move(problem));
  return out;
}

}  // namespace assay::plan
