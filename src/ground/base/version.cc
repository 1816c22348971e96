#include "base/version.h"

namespace assay {

std::string_view version() { return ASSAY_VERSION; }
std::string_view source_revision() { return ASSAY_REVISION; }
std::string_view compiler() { return ASSAY_COMPILER; }
std::string_view build_type() { return ASSAY_BUILD_TYPE; }

}  // namespace assay
