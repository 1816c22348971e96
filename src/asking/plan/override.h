// The model_params of one dataset: the run's, merged with the dataset's generation_config_override,
// maps into maps. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Members of `over` replace those of `under`, except that a map is merged into a map.
Json deep_merge(Json under, const Json& over);

// Problems of the override go to `problems`, with paths below `path`.
ModelParams merged_params(const ModelParams& params, const Json& override_json,
                          const std::string& path, std::vector<Problem>& problems);

}  // namespace assay::plan
