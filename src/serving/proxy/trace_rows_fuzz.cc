// Any bytes as the requests and replies that pass a proxy: a row has only numbers, switches and our
// own words, so no byte of either is in it; blocks and lengths fit together.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "proxy/trace_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  constexpr std::array<std::string_view, 9> kWords{"chat",      "completions", "messages",
                                                   "responses", "other",       "usage",
                                                   "tokenizer", "events",      "bytes"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\n');
  proxy::Seen seen;
  seen.post = true;
  seen.path = text.substr(0, 20);
  seen.body = text.substr(0, cut);
  seen.status = 200;
  seen.whole = true;
  if (cut != std::string_view::npos) seen.reply = text.substr(cut + 1);
  proxy::TraceRows rows({.block = 16, .secret = "s"});
  for (const bool stream : {false, true}) {
    seen.event_stream = stream;
    const auto half = static_cast<std::uint32_t>(seen.reply.size() / 2);
    seen.pieces = {{Instant{1}, half},
                   {Instant{2}, static_cast<std::uint32_t>(seen.reply.size()) - half}};
    seen.ended = Instant{2};
    const Json row = rows.row(seen);
    if (row.is_null()) continue;
    CHECK(row["input_length"].as_int() >= 1);
    CHECK(row["output_length"].as_int(-1) >= 0);
    CHECK(row["hash_ids"].size() <=
          static_cast<std::size_t>(row["input_length"].as_int() / 16 + 1));
    for (const auto& [key, value] : row.members()) {
      if (value.is_string()) CHECK(std::ranges::count(kWords, value.as_string()) == 1);
      for (const Json& item : value.items()) CHECK(item.is_integer());
    }
  }
  return 0;
}
