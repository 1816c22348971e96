// The learned template of a stream's events (StreamState): an event's bytes without its fragment,
// and without the values that only count events (Kind::varying). An event that has the same bytes
// around a valid string body, and around values of the same form, is the previous one with another
// fragment: a parser reaches the body's opening quote in the same state, and goes on in the same
// way after its closing quote.
//
// Only for reply_decoder.cc. Pure; any thread.
#pragma once

#include <cstdint>
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

}  // namespace assay::protocol
