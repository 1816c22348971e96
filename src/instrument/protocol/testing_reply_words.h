// For the room's own tests: what a decoder read from an event, as text.
#pragma once

#include <string>
#include <string_view>

#include "base/format.h"
#include "domain/tool_call.h"
#include "protocol/codec.h"

namespace assay::protocol {

inline std::string with_padding(std::string_view text) {
  return std::string(text) + std::string(kDecodePadding, '"');
}

// All facts of an event, as text.
inline std::string told_of(const DecodedEvent& event) {
  if (event.malformed) return event.no_room ? "no room" : "malformed";
  std::string out(to_string(event.category));
  if (event.choice != 0) out += format(" choice {}", event.choice);
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    std::string text(event.fragments[i].text);
    for (char& c : text) c = c == kToolCallBegins ? '^' : c == kToolCallField ? '|' : c;
    out += format(" {}:'{}'", to_string(event.fragments[i].category), text);
  }
  if (event.has_choice) out += " choice";
  if (event.finish != FinishReason::none) out += format(" finish:{}", to_string(event.finish));
  if (event.has_usage) {
    out += format(" usage:{},{},{},{}", event.usage.prompt_tokens, event.usage.completion_tokens,
                  event.usage.reasoning_tokens, event.usage.cached_tokens);
  }
  if (!event.error.empty()) out += format(" error:'{}'", event.error);
  if (!event.more_choices.empty()) out += format(" more:{}", event.more_choices);
  return out;
}

inline std::string delta_of(std::string_view members) {
  return format(R"({{"choices":[{{"delta":{{{}}}}}]}})", members);
}

}  // namespace assay::protocol
