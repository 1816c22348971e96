#include "domain/event.h"

#include "base/enum_name.h"

namespace assay {

std::string_view to_string(Outcome outcome) { return enum_name(outcome); }

std::string_view to_string(FinishReason reason) { return enum_name(reason); }

FinishReason finish_reason_from(std::string_view text) {
  if (text.empty()) return FinishReason::none;
  for (const FinishReason reason :
       {FinishReason::stop, FinishReason::length, FinishReason::tool_calls,
        FinishReason::content_filter, FinishReason::function_call}) {
    if (text == to_string(reason)) return reason;
  }
  return FinishReason::other;
}

std::string_view to_string(Category category) { return enum_name(category); }

}  // namespace assay
