// The guide to the config, made from the tables of settings, so that it says what the reader does:
// docs/guide/config.md. Pure.
#pragma once

#include <string>

namespace assay::plan {

// Markdown.
std::string config_guide();

}  // namespace assay::plan
