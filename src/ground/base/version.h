// This build's version: a result records which program measured it. Set by CMake. Any thread.
#pragma once

#include <string_view>

namespace assay {

std::string_view version();  // "0.1.0"
// The commit of Assay's source, short; "" for a build without a checkout.
std::string_view source_revision();
std::string_view compiler();    // "GNU 12.2.0"
std::string_view build_type();  // "Release"

}  // namespace assay
