// Kind: one kind of API as a row of functions, and the table of all kinds: what its request is made
// of, where its reply's facts stand, and how its stream ends. To add a kind: a file for its request
// and one for its reply in this folder, a row here, and one in domain/api.h.
//
// A reply's function fills ReplyFields, the same for all kinds; reply_decoder.cc makes facts from
// them. It is called once an event, through a pointer, and only where the learned template does not
// fit the event.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "domain/request_spec.h"
#include "domain/sample.h"
#include "protocol/codec.h"
#include "protocol/reply_fields.h"

namespace assay::protocol {

struct Kind {
  Api api = Api::openai;
  std::string_view route{};  // of its POST
  // Refuses what this API cannot express.
  Result<void> (*check)(const Sample& sample) = nullptr;
  // The body before extra_body and the row's overrides. `filler`: as in request_parts.h.
  Json (*body)(const Generation& generation, const Sample& sample, char filler) = nullptr;
  // One event's data, and a whole reply. False where the text is no JSON object.
  bool (*read_event)(std::string_view text, ReplyFields& out) = nullptr;
  bool (*read_reply)(std::string_view text, ReplyFields& out) = nullptr;
};

const Kind& kind_of(Api api);

// The requests.
Json chat_body(const Generation& generation, const Sample& sample, char filler);
Json completions_body(const Generation& generation, const Sample& sample, char filler);
Json sglang_body(const Generation& generation, const Sample& sample, char filler);

}  // namespace assay::protocol
