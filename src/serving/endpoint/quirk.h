// Quirks: deviations of real inference servers, each with a name, so that an instrument can be
// tested against all of them. The table describes each and names servers that have it.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::endpoint {

enum class Quirk : std::uint8_t {
  // the content of events
  role_first,
  empty_first,
  finish_with_last,
  reasoning_field,
  always_usage,
  usage_with_finish,
  usage_every_event,
  no_usage,
  no_done,
  late_done,
  error_in_stream,
  // the tokens that replies report and hold
  usage_inflated,
  usage_zero,
  first_burst,
  hidden_reasoning,
  empty_reply,
  not_streamed,
  goes_on_after_done,
  // the form of events as server-sent events
  crlf,
  comments,
  pings,
  sse_fields,
  no_space,
  spaced_json,
  multi_data,
  // the division into segments
  split_event,
  split_utf8,
  joined_events,
  ragged_chunks,
  // the response around them
  wrong_content_type,
  gzip,
  gzip_forced,
  chunked_plain,
  close_delimited,
  http10,
  interim,
  slow_headers,
  stall,
  silent_close,
  // behaviour that the rules forbid
  cached_replies,
  // behaviour under load that a measurement of speed alone does not see
  unguarded,
  // failures of every request; `--fault` offers some of them too
  cut_reset,
  cut_close,
  http429,
  http500,
};
inline constexpr std::size_t kQuirks = 45;

struct QuirkRow {
  Quirk quirk = Quirk::role_first;
  std::string_view name{};
  std::string_view what{};
  std::string_view who{};
};

// All quirks, in the order of the enumeration.
std::span<const QuirkRow> quirk_table();
std::string_view to_string(Quirk quirk);
// "role-first" or "role_first".
Result<Quirk> parse_quirk(std::string_view text);
// The table as text: the output of `--quirk help`.
std::string quirk_help();

class Quirks {
 public:
  void add(Quirk quirk) { bits_.set(static_cast<std::size_t>(quirk)); }
  bool has(Quirk quirk) const { return bits_.test(static_cast<std::size_t>(quirk)); }
  bool any() const { return bits_.any(); }

 private:
  std::bitset<kQuirks> bits_{};
};

}  // namespace assay::endpoint
