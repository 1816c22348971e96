// The config that a run folder keeps: resolved, with the reference client's key names, without
// secrets (its rules: spec, section 3.4). The saved file gives the same plan.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "plan/config.h"

namespace assay::plan {

// The same tree as JSON, with secrets already redacted.
Json config_to_json(const Config& config);
std::string config_to_yaml(const Config& config);

// Returns a URL without its user name, password and secret query values; other text unchanged.
std::string redact_url(std::string_view url);

}  // namespace assay::plan
