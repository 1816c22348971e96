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
     .check = check_messages,
     .body = chat_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::openai_completions,
     .route = "/v1/completions",
     .check = check_completions,
     .body = completions_body,
     .read_event = read_reply,
     .read_reply = read_reply},
    {.api = Api::sglang,
     .route = "/generate",
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
