// PlugLine: one line that an endpoint's program wrote (docs/formats/plugin.md). It is a JSON
// object:
//
//   {"ready": true, "name": "my model"}                  first, once
//   {"query": 7, "text": "Hel"}                          a fragment; also "reasoning", "tool_call"
//   {"query": 7, "done": true, "finish": "stop",
//    "usage": {"prompt_tokens": 12, "completion_tokens": 2}}
//   {"query": 7, "error": "out of memory"}               instead of "done"
//
// A fragment and "done" may stand in one line. Unknown members are ignored, so that a later version
// may add some. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/event.h"

namespace assay::plug {

inline constexpr std::size_t kLineMax = std::size_t{16} << 20;

struct PlugLine {
  enum class Kind : std::uint8_t { ready, reply };
  Kind kind = Kind::reply;
  std::string name{};       // of a ready program; may be ""
  std::uint64_t query = 0;  // of a reply
  bool has_fragment = false;
  Category category = Category::text;  // of the fragment
  std::string text{};                  // of the fragment
  bool done = false;
  bool failed = false;
  std::string error{};  // where it failed
  FinishReason finish = FinishReason::none;
  Usage usage{};
};

// The error says what is wrong with the line.
Result<PlugLine> read_plug_line(std::string_view line);

}  // namespace assay::plug
