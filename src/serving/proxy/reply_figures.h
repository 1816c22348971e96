// What a reply through the proxy says of its lengths and instants: the server's own counts, its
// output events and the gaps between them. Understands chat completions, completions, Messages and
// Responses, streamed or not; of anything else nothing. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/seen.h"

namespace assay::proxy {

struct ReplyFigures {
  std::optional<std::int64_t> input_tokens{};  // as the server counted
  std::optional<std::int64_t> output_tokens{};
  std::optional<std::int64_t> cached_tokens{};
  std::string text{};              // of all output, for a tokenizer
  std::vector<Instant> outputs{};  // the events that brought some
};

ReplyFigures read_reply(const Seen& seen);

// A prompt's text in a fixed form: equal prompts give equal texts, and a conversation that goes on
// begins with its own text before. Empty: the body is no request for tokens.
std::string prompt_text(std::string_view body);

}  // namespace assay::proxy
