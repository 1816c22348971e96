// DescribedKind: a kind of API that a user describes in a YAML file (docs/formats/kind.md) instead
// of in code: the request as a template, and the places of the reply's facts as paths.
// protocol/kind sends and reads by it, endpoint/dialect answers by it.
//
// A path is a list of member names and array indices, written with dots: choices.0.text. All paths
// of one reply are numbered, so that a reader finds them in one pass; at most 32.
//
// Pure data, made whole by parse_described_kind() and never changed; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/api.h"

namespace assay {

inline constexpr std::size_t kKindPlacesMax = 32;

// Holds when the value at a place is one of `is`; without any: when it is there, and is not null,
// false or "".
struct KindCondition {
  int place = -1;          // -1: no condition
  std::vector<Json> is{};  // strings, numbers, booleans
};

// The first place that holds a string which is not empty, in a message where `when` holds.
struct KindField {
  std::vector<std::uint8_t> places{};
  KindCondition when{};

  bool known() const { return !places.empty(); }
};

// Where the facts stand in one event, or in a whole reply.
struct KindReply {
  std::vector<std::vector<std::string>> places{};  // each a path
  KindField text{};
  KindField reasoning{};
  KindField error{};
  KindField finish{};
  KindCondition end{};
  int prompt_tokens = -1;
  int output_tokens = -1;
  int cached_tokens = -1;
  int reasoning_tokens = -1;
  int units = -1;  // of an array with an item a unit
};

enum class KindStream : std::uint8_t { none, sse, lines };

struct DescribedKind {
  std::string name{};
  std::string route{};  // of its POST; "{model}" stands for the model's name
  Json request{};       // an object; its strings hold slots
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string key_header{};  // "": the key is a bearer token
  KindStream stream = KindStream::sse;
  bool text_so_far = false;  // each event holds the whole text so far
  KindReply event{};
  KindReply whole{};
  std::string unit{};                      // "": replies are tokens
  std::vector<std::string> units_asked{};  // path in the request: an array, or a number; empty: one

  // What follows from the template.
  bool takes_messages = false;
  bool takes_prompt = false;           // or messages
  bool limits_tokens = false;          // {output_tokens_max} is sent
  std::vector<std::string> columns{};  // of a dataset's row
  std::string stream_field{};          // the root's member that is {stream}; "": none

  Json source{};  // the file as one value, to keep beside a run
};

// `source`: the file's content, an object. The error names the field and what it must be.
Result<DescribedKind> parse_described_kind(const Json& source);

// The parts of a template's string: a slot's name, or text.
struct TemplatePart {
  bool slot = false;
  std::string text{};
};
// {{ and }} are braces. Fails on a brace that is not closed and on an unknown name.
Result<std::vector<TemplatePart>> template_parts(std::string_view text);

// The body of a template. `value_of(name)` gives a slot's value; a member or item that is
// only a slot is left out where that is null.
using ValueOf = Json (*)(std::string_view name, const void* context);
Json fill_template(const Json& request, ValueOf value_of, const void* context);

// What an endpoint speaks: a kind of the table, or one that is described.
struct Spoken {
  Api api = Api::openai;
  const DescribedKind* described = nullptr;  // only with Api::described

  Spoken() = default;
  Spoken(Api kind) : api(kind) {}
  Spoken(Api kind, const DescribedKind* own) : api(kind), described(own) {}
  bool operator==(const Spoken&) const = default;
};

// The name of a kind, and whether it is asked with messages; of a described one as its file has it.
inline std::string_view name_of(const Spoken& api) {
  return api.described != nullptr ? std::string_view(api.described->name) : to_string(api.api);
}
inline bool takes_messages(const Spoken& api) {
  return api.described != nullptr ? api.described->takes_messages : row_of(api.api).takes_messages;
}

}  // namespace assay
