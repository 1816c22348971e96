#include "protocol/kind/kind.h"

#include <array>

#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

Result<void> check_completions(const Sample& sample) {
  return check_prompt(Api::openai_completions, sample);
}

Result<void> check_sglang(const Sample& sample) { return check_prompt(Api::sglang, sample); }

Result<void> refuse_videos(const Sample&) {
  return Error{Code::unsupported,
               "api_type videogen: not spoken yet; use openai, "
               "openai_completions or sglang"};
}

// In the order of the enumeration. The three first share one grammar of replies: servers mix their
// shapes.
constexpr std::array<Kind, kApis.size()> kKinds{{
    {.api = Api::openai,
     .route = "/v1/chat/completions",
     .limit_name = "max_completion_tokens",
     .check = check_messages,
     .body = chat_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::openai_completions,
     .route = "/v1/completions",
     .limit_name = "max_tokens",
     .check = check_completions,
     .body = completions_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::sglang,
     .route = "/generate",
     .limit_name = "max_new_tokens",
     .check = check_sglang,
     .body = sglang_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::videogen,
     .route = "/v1/videos/generations",
     .check = refuse_videos,
     .body = sglang_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::openai_responses,
     .route = "/v1/responses",
     .limit_name = "max_output_tokens",
     .ends_itself = true,
     .end_name = "response.completed",
     .check = check_messages,
     .body = responses_body,
     .read_event = read_responses_event,
     .read_reply = read_responses_reply},
    {.api = Api::anthropic_messages,
     .route = "/v1/messages",
     .limit_name = "max_tokens",
     .ends_itself = true,
     .end_name = "message_stop",
     .key_header = "x-api-key",
     .header = "anthropic-version",
     .header_value = "2023-06-01",
     .check = check_messages,
     .body = messages_body,
     .read_event = read_messages_event,
     .read_reply = read_messages_reply},
    {.api = Api::ollama_chat,
     .route = "/api/chat",
     .limit_name = "options.num_predict",
     .lines = true,
     .ends_itself = true,
     .end_name = "a line that is done",
     .check = check_ollama_chat,
     .body = ollama_chat_body,
     .read_event = read_ollama_line,
     .read_reply = read_ollama_line},
    {.api = Api::ollama_generate,
     .route = "/api/generate",
     .limit_name = "options.num_predict",
     .lines = true,
     .ends_itself = true,
     .end_name = "a line that is done",
     .check = check_ollama_generate,
     .body = ollama_generate_body,
     .read_event = read_ollama_line,
     .read_reply = read_ollama_line},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].api) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const Kind& kind_of(Api api) { return kKinds[static_cast<std::size_t>(api)]; }

}  // namespace assay::protocol
