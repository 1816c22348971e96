#include "domain/event.h"

#include "base/check.h"

namespace assay {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::connect_failed:
      return "connect_failed";
    case Outcome::tls_failed:
      return "tls_failed";
    case Outcome::reset:
      return "reset";
    case Outcome::truncated:
      return "truncated";
    case Outcome::http_error:
      return "http_error";
    case Outcome::stream_error:
      return "stream_error";
    case Outcome::bad_reply:
      return "bad_reply";
    case Outcome::timed_out:
      return "timed_out";
    case Outcome::cancelled:
      return "cancelled";
    case Outcome::over_memory:
      return "over_memory";
  }
  CHECK(false && "no such Outcome");
  return "";
}

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::none:
      return "none";
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::tool_calls:
      return "tool_calls";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::function_call:
      return "function_call";
    case FinishReason::other:
      return "other";
  }
  CHECK(false && "no such FinishReason");
  return "";
}

FinishReason finish_reason_from(std::string_view text) {
  if (text.empty()) return FinishReason::none;
  for (const FinishReason reason :
       {FinishReason::stop, FinishReason::length, FinishReason::tool_calls,
        FinishReason::content_filter, FinishReason::function_call}) {
    if (text == to_string(reason)) return reason;
  }
  return FinishReason::other;
}

std::string_view to_string(Category category) {
  switch (category) {
    case Category::text:
      return "text";
    case Category::reasoning:
      return "reasoning";
    case Category::tool_call:
      return "tool_call";
    case Category::role:
      return "role";
    case Category::finish:
      return "finish";
    case Category::usage:
      return "usage";
    case Category::marker:
      return "marker";
    case Category::error:
      return "error";
    case Category::other:
      return "other";
    case Category::sound:
      return "sound";
  }
  CHECK(false && "no such Category");
  return "";
}

}  // namespace assay
