#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "protocol/codec.h"
#include "protocol/reply_twin.h"

// The input is a stream, one event a line. For any events the learned template and the whole
// grammar agree; and every text that simdjson accepts is accepted. As whole replies the lines are
// read by one decoder, which learns their shape, as by a new one for each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using assay::protocol::own;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  assay::protocol::ReplyDecoder fast;
  assay::protocol::ReplyDecoder slow;
  assay::protocol::ReplyDecoder replies;
  assay::protocol::StreamState fast_state;
  assay::protocol::StreamState slow_state;
  assay::protocol::DecodedEvent fast_event;
  assay::protocol::DecodedEvent slow_event;
  for (int events = 0; !rest.empty() && events < 64; ++events) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    std::string padded(line);
    padded.append(assay::protocol::kDecodePadding, '\\');
    const std::string_view text(padded.data(), line.size());
    fast.decode(text, fast_state, fast_event);
    slow.decode_slowly(text, slow_state, slow_event);
    CHECK(fast_event.malformed == slow_event.malformed);
    CHECK(own(fast_event) == own(slow_event));
    CHECK(fast_event.choice == slow_event.choice);
    CHECK(fast_event.more_choices == slow_event.more_choices);
    for (std::size_t i = 0; i < fast_event.fragment_count; ++i) {
      CHECK(!fast_event.fragments[i].text.empty());
    }
    assay::protocol::DecodedEvent learned;
    assay::protocol::DecodedEvent alone;
    replies.decode_reply(assay::Api::openai, text, learned);
    assay::protocol::ReplyDecoder new_decoder;
    new_decoder.decode_reply(assay::Api::openai, text, alone);
    CHECK(learned.malformed == alone.malformed && learned.choice == alone.choice);
    CHECK(own(learned) == own(alone) && learned.more_choices == alone.more_choices);
    // Takes each further choice from the front, until none is left.
    for (std::size_t left = fast_event.more_choices.size(); left > 0;) {
      fast.next_choice(&fast_state, fast_event);
      slow.next_choice(&slow_state, slow_event);
      CHECK(own(fast_event) == own(slow_event));
      CHECK(fast_event.more_choices.size() < left);
      left = fast_event.more_choices.size();
    }
    if (slow_event.malformed && line.size() < 256) {
      const auto json = assay::Json::parse(line);
      CHECK(!json || !json->is_object());
    }
  }
  return 0;
}
