#include "domain/run_info.h"

#include "base/check.h"

namespace assay {

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::complete:
      return "complete";
    case RunState::interrupted:
      return "interrupted";
    case RunState::crashed:
      return "crashed";
  }
  CHECK(false && "no such RunState");
  return "";
}

bool gaps_recorded(const RunInfo& info) {
  return info.facts["imported"]["chunks"].as_string() != "first";
}

}  // namespace assay
