// The learned template of a stream's events (StreamState): an event's bytes without its fragment,
// and without the values that only count events (Kind::varying). An event that has the same bytes
// around a valid string body, and around values of the same form, is the previous one with another
// fragment: a parser reaches the body's opening quote in the same state, and goes on in the same
// way after its closing quote.
//
// Only for reply_decoder.cc and learned_reply.cc. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "protocol/codec.h"
#include "protocol/json_cursor.h"

namespace assay::protocol {

// Learns `data`, a whole JSON object whose one fragment is the string body `hole`; forgets what was
// learned where the event is too large. `varying`: names of members, with their quotes.
void learn(std::string_view data, const RawString& hole, Category category, std::uint16_t choice,
           const VaryingNames& varying, StreamState& state);

// The fragment's place in an event that fits a template with varying values; empty view at nullptr
// where it does not fit. Whether it is a valid string body is for the caller to see.
std::string_view find_fragment(std::string_view data, const StreamState& state);

// ---- the parts, which learned_reply.h shares ---------------------------------------------------

// A larger template saves little, and each stream would keep it.
inline constexpr std::size_t kTemplateBytesMax = 16 * 1024;

// A place in a text and in the bytes that were learned, which advance together where both are the
// same. The values between move `p` alone.
struct SameBytes {
  const char* p;
  const char* end;
  std::string_view learned{};
  std::size_t at = 0;  // in `learned`

  SameBytes(std::string_view data, std::string_view bytes)
      : p(data.data()), end(p + data.size()), learned(bytes) {}

  bool same_until(std::size_t until) {
    const std::size_t size = until - at;
    if (static_cast<std::size_t>(end - p) < size) return false;
    if (std::memcmp(p, learned.data() + at, size) != 0) return false;
    p += size;
    at = until;
    return true;
  }
  bool same_to_the_end() { return same_until(learned.size()) && p == end; }
};

// The value of a varying member: a string's body without escapes, or a whole number's digits; empty
// at nullptr where there is none. REQUIRES: padding as JsonCursor needs.
std::string_view varying_value(std::string_view data, std::string_view name);

// The end of the string body at `p`; nullptr without a closing quote.
const char* body_end(const char* p, const char* end);

// The end of a varying value at `p`; nullptr where there is none of this form.
const char* value_end(const char* p, const char* end, bool number);

}  // namespace assay::protocol
