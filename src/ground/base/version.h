// What this build is: a result must say which program measured it. Set by CMake. Pure; any thread.
#pragma once

#include <string_view>

namespace assay {

std::string_view version();  // "0.1.0"
// The commit of Assay's source, short; "" where it was not built from a checkout.
std::string_view source_revision();
std::string_view compiler();    // "GNU 12.2.0"
std::string_view build_type();  // "Release"

}  // namespace assay
