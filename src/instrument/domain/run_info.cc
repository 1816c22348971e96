#include "domain/run_info.h"

#include "base/enum_name.h"

namespace assay {

std::string_view to_string(RunState state) { return enum_name(state); }

bool gaps_recorded(const RunInfo& info) {
  return info.facts["imported"]["chunks"].as_string() != "first";
}

}  // namespace assay
