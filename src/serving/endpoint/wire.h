// Wire: replies as JSON for each API: OpenAI's chat completions and completions, and SGLang's
// generate. One Wire serves one route and one model name; its fixed parts are rendered once, so
// that an event of a stream costs a few copies. The framing (SSE, chunks) is in event_writer.h.
//
// Pure, except for the given buffer. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/event.h"
#include "endpoint/ask.h"
#include "endpoint/byte_buffer.h"

namespace assay::endpoint {

// The common fields of one reply's events, and its progress.
struct ReplyState {
  std::uint64_t id = 0;
  std::uint32_t created = 0;  // seconds since 1970
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;   // of those, from the modelled prefix cache
  std::uint32_t made = 0;            // tokens so far, with this event's
  std::uint32_t reasoning_made = 0;  // of those
  double latency_s = -1;             // since the request; in generate's last event
  bool null_usage = false;           // each event has "usage":null, as OpenAI's have if requested
  bool usage_now = false;            // this event has the usage so far
  std::uint32_t choice = 0;          // of this event
  std::uint32_t choices = 1;         // total, each of `made` tokens
};

struct WireOptions {
  bool reasoning_is_short = false;  // the field is `reasoning`
  // A factor on the tokens in usage.
  std::uint32_t said_for_each = 1;
};

class Wire {
 public:
  Wire(Route route, std::string_view model, const WireOptions& options);

  Route route() const { return route_; }

  // One event with a piece of the answer. `json`: the text as in a JSON string; for generate the
  // whole text so far, with the new tokens' ids, comma-separated, in `ids`. `opening`: the delta
  // has the role too. `finish`: none leaves finish_reason null.
  void fragment(ByteBuffer& out, const ReplyState& state, Category category, std::string_view json,
                std::string_view ids, bool opening, FinishReason finish) const;
  // The first fragment of a tool call: its id and the function's name.
  void tool_opening(ByteBuffer& out, const ReplyState& state, std::string_view name, bool opening,
                    FinishReason finish) const;
  // An event with a role and an empty content, or with an empty delta.
  void empty_delta(ByteBuffer& out, const ReplyState& state, bool with_role) const;
  // An event with a finish reason and no fragment. Not for generate, whose last fragment has it.
  void finish(ByteBuffer& out, const ReplyState& state, FinishReason reason) const;
  // An event with no choice, and the usage.
  void usage(ByteBuffer& out, const ReplyState& state) const;

  // A whole reply. The texts are as in JSON strings.
  struct Plain {
    std::string_view text{};
    std::string_view reasoning{};
    std::string_view ids{};  // generate only
    std::string_view tool_name{};
    std::string_view tool_arguments{};
    FinishReason finish = FinishReason::stop;
  };
  void plain(ByteBuffer& out, const ReplyState& state, const Plain& reply) const;

 private:
  void begin(ByteBuffer& out, const ReplyState& state) const;
  void end(ByteBuffer& out, const ReplyState& state, FinishReason reason) const;
  void put_usage(ByteBuffer& out, const ReplyState& state) const;
  void plain_choice(ByteBuffer& out, const ReplyState& state, const Plain& reply) const;
  void plain_chat(ByteBuffer& out, const Plain& reply) const;
  void generate(ByteBuffer& out, const ReplyState& state, std::string_view text,
                std::string_view ids, FinishReason finish) const;

  Route route_;
  WireOptions options_;
  std::string before_id_{};
  std::string after_id_{};
  std::string plain_after_id_{};
  std::string after_created_{};  // up to the choice's index
  std::string_view choice_opening_{};
  std::string_view plain_opening_{};
  std::string usage_after_created_{};
};

}  // namespace assay::endpoint
