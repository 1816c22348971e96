// docs/guide/config.md, the guide to the config, made from the tables of settings, so that it
// always matches the reader. Pure.
#pragma once

#include <string>

namespace assay::plan {

// Returns Markdown.
std::string config_guide();

}  // namespace assay::plan
