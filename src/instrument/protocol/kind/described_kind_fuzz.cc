// A kind's file, a line "---", and messages, one a line: no file and no message may crash the
// reader, and each fact is what a slow walk through the parsed message finds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/yaml.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// The value at a path; null where there is none.
const Json& walk(const Json& message, const std::vector<std::string>& path) {
  const Json* at = &message;
  for (const std::string& step : path) {
    static const Json kNone;
    if (at->is_object()) {
      at = &(*at)[step];
      continue;
    }
    const bool index = !step.empty() && step.size() < 6 &&
                       step.find_first_not_of("0123456789") == std::string::npos &&
                       (step == "0" || step.front() != '0');
    if (!index || !at->is_array()) return kNone;
    at = &(*at)[std::stoul(step)];
  }
  return *at;
}

bool holds(const Json& message, const KindReply& reply, const KindCondition& condition) {
  if (condition.place < 0) return true;
  const Json& value = walk(message, reply.places[static_cast<std::size_t>(condition.place)]);
  if (condition.is.empty()) {
    const bool empty = value.is_null() || (value.is_bool() && !value.as_bool()) ||
                       (value.is_string() && value.as_string().empty());
    return !empty;
  }
  for (const Json& one : condition.is) {
    if (one == value) return true;
  }
  return false;
}

std::string text_of(const Json& message, const KindReply& reply, const KindField& field) {
  if (!holds(message, reply, field.when)) return "";
  for (const std::uint8_t place : field.places) {
    const std::string_view text = walk(message, reply.places[place]).as_string();
    if (!text.empty()) return std::string(text);
  }
  return "";
}

// Conditions on numbers and booleans compare the text, so that 1 and 1.0 differ.
bool only_words(const KindReply& reply) {
  for (const KindCondition* one :
       {&reply.end, &reply.text.when, &reply.reasoning.when, &reply.error.when}) {
    for (const Json& word : one->is) {
      if (!word.is_string()) return false;
    }
  }
  return true;
}

void read(const DescribedKind& kind, bool whole, std::string_view line) {
  std::string padded(line);
  padded.append(kDecodePadding, '\\');
  StreamState state;
  state.api = {Api::described, &kind};
  ReplyDecoder decoder;
  DecodedEvent event;
  const std::string_view text(padded.data(), line.size());
  if (whole) {
    decoder.decode_reply(state.api, text, event);
  } else {
    decoder.decode_slowly(text, state, event);
  }
  const auto json = Json::parse(line);
  if (!json) return;
  const KindReply& reply = whole ? kind.whole : kind.event;
  CHECK(event.malformed != (json->is_object() || json->is_array()));
  if (event.malformed || !only_words(reply)) return;
  std::string said;
  std::string thought;
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    const bool thinks = event.fragments[i].category == Category::reasoning;
    (thinks ? thought : said) += event.fragments[i].text;
  }
  CHECK(said == text_of(*json, reply, reply.text));
  CHECK(thought == text_of(*json, reply, reply.reasoning));
  CHECK(whole || event.ends == (reply.end.place >= 0 && holds(*json, reply, reply.end)));
}

}  // namespace
}  // namespace assay::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBreak = "\n---\n";
  const std::size_t at = text.find(kBreak);
  const auto root = assay::yaml::parse(text.substr(0, at));
  if (!root) return 0;
  const auto kind = assay::parse_described_kind(root->to_json());
  if (!kind) {
    CHECK(!kind.error().message.empty());
    return 0;
  }
  CHECK(assay::parse_described_kind(kind->source));
  std::string_view rest = at == std::string_view::npos ? "" : text.substr(at + kBreak.size());
  for (int lines = 0; !rest.empty() && lines < 32; ++lines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    assay::protocol::read(*kind, false, line);
    assay::protocol::read(*kind, true, line);
  }
  return 0;
}
