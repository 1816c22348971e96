// The learned shape of whole replies: the bytes of one that was read by the grammar, without its
// text, its counts and the values that say nothing of it, as its id. A reply with the same bytes
// around values of the same form differs from it in these values alone: the grammar would take the
// same way through it. The replies of a server mostly have one shape.
//
// Only for reply_decoder.cc. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/codec.h"
#include "protocol/json_cursor.h"

namespace assay::protocol {

class LearnedReply {
 public:
  // Learns `data`, which the grammar read as `event`, and whose one fragment is the string body
  // `text`. It does not learn each reply of a server whose replies fit no shape.
  // REQUIRES: event has no error and one choice, which calls no tool.
  void learn(Spoken api, std::string_view data, const RawString& text, const DecodedEvent& event);

  // False where `data` is not of the learned shape; `event` and `text` are undefined then. Else
  // `event` is complete except for its one fragment's text, which is the string body `text`:
  // whether that is valid is for the caller to see. REQUIRES: padding as JsonCursor needs.
  bool read(Spoken api, std::string_view data, DecodedEvent& event, std::string_view& text);

 private:
  enum class Form : std::uint8_t { text, string, digits, prompt_tokens, completion_tokens };
  // A value that is left out of `bytes_`, and where it stood.
  struct Gap {
    std::size_t at{};
    Form form = Form::text;
  };
  static constexpr std::size_t kGapsMax = 6;

  bool due();

  Spoken api_{};
  std::string bytes_{};  // empty: nothing learned
  std::array<Gap, kGapsMax> gaps_{};
  std::size_t gap_count_ = 0;
  DecodedEvent event_{};  // without its text
  // How many replies that did not fit pass before the next is learned; it grows while shapes do not
  // last.
  std::uint32_t wait_ = 0;
  std::uint32_t passed_ = 0;
  bool lasted_ = false;
};

}  // namespace assay::protocol
