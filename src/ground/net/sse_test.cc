#include "net/sse.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace assay::net {
namespace {

using Strings = std::vector<std::string>;

// The slow twin: the standard's algorithm over the whole text at once.
Strings plain_parse(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  Strings lines{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') {
      lines.emplace_back();
    } else {
      lines.back() += text[i];
    }
  }
  Strings events;
  std::string data;
  bool has_data = false;
  const auto flush = [&] {
    if (has_data) events.push_back(data);
    data.clear();
    has_data = false;
  };
  for (const std::string& line : lines) {
    if (line.empty()) {
      flush();
    } else if (line.starts_with("data:") || line == "data") {
      std::string value = line.size() > 5 ? line.substr(5) : "";
      if (value.starts_with(' ')) value.erase(0, 1);
      data += (has_data ? "\n" : "") + value;
      has_data = true;
    }
  }
  flush();
  return events;
}

Strings parse_in_pieces(const std::string& text, Rng& rng) {
  SseParser parser;
  Strings events;
  const auto take = [&](std::string_view data, std::size_t) { events.emplace_back(data); };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = std::min<std::size_t>(text.size() - at, 1 + rng.below(40));
    const std::string piece = text.substr(at, size);
    EXPECT_TRUE(parser.feed(piece, take));
    at += size;
  }
  parser.finish(take);
  return events;
}

TEST(Sse, one_event_in_one_piece_is_a_view_into_it) {
  SseParser parser;
  const std::string text = ": hello\n\ndata: {\"a\":1}\n\n";
  const char* seen = nullptr;
  ASSERT_TRUE(parser.feed(text, [&](std::string_view data, std::size_t consumed) {
    seen = data.data();
    EXPECT_EQ(data, "{\"a\":1}");
    EXPECT_EQ(consumed, text.size());
  }));
  EXPECT_EQ(seen, text.data() + 15);
}

TEST(Sse, the_same_events_however_the_bytes_are_cut) {
  const Strings parts{"data: {\"x\":1}\n\n",
                      "data:{}\r\n\r\n",
                      "data: a\rdata: b\r\r",
                      ": ping\n\n",
                      "event: e\ndata: x\nid: 7\n\n",
                      "\n",
                      "\r\n",
                      "data\n\n",
                      "data:\n\n",
                      "data:  two spaces\n\n",
                      "retry: 1\n",
                      "data: [DONE]\n\n",
                      "garbage",
                      "data: caf\xc3\xa9\n\n",
                      "\r",
                      "data: y\r\n\n",
                      "data: cr\rin the middle\n\n"};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string text = rng.below(5) == 0 ? "\xEF\xBB\xBF" : "";
    for (std::uint64_t i = rng.below(12); i-- > 0;) text += parts[rng.below(parts.size())];
    EXPECT_EQ(parse_in_pieces(text, rng), plain_parse(text)) << "seed " << seed;
  }
}

// What the parser gives, each event named error with an exclamation mark before it.
Strings with_errors_marked(const std::string& text, std::size_t piece_bytes) {
  SseParser parser;
  Strings events;
  const auto take = [&](std::string_view data, std::size_t) {
    events.push_back((parser.names_error() ? "!" : "") + std::string(data));
  };
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const std::string piece = text.substr(at, piece_bytes);
    EXPECT_TRUE(parser.feed(piece, take));
  }
  parser.finish(take);
  return events;
}

TEST(Sse, an_event_named_error_is_told_and_its_comment_speaks_where_data_do_not) {
  const std::string text =
      ": hello\n\ndata: a\n\nevent: error\ndata: b\n\ndata: c\n\n"
      "event:error\r\n: died\r\n\r\ndata: d\n\nevent: error\n: words\ndata: e\ndata: f\n\n"
      "event: error\nevent: message\ndata: g\n\nevent: errors\ndata: h\n\nevent: error\n: end";
  const Strings events{"a", "!b", "c", "!died", "d", "!e\nf", "g", "h", "!end"};
  for (const std::size_t piece_bytes :
       {std::size_t{1}, std::size_t{3}, std::size_t{17}, text.size()}) {
    EXPECT_EQ(with_errors_marked(text, piece_bytes), events) << piece_bytes;
  }
}

// An error's comments are its own: not those of an event that is none any more, or is over.
TEST(Sse, no_comment_is_left_for_a_later_error) {
  const std::string text =
      "data: a\n\n"
      "event: error\n: first\ndata: b\n\nevent: error\n: second\n\n"
      "event: error\n: third\nevent: message\n\nevent: error\n: fourth\n\n"
      "event: error\n: fifth\nevent: x\ndata: c\n\nevent: error\n\n";
  const Strings events{"a", "!b", "!second", "!fourth", "c", "!"};
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes) {
    EXPECT_EQ(with_errors_marked(text, piece_bytes), events) << piece_bytes;
  }
}

TEST(Sse, a_last_event_without_its_blank_line_is_given_at_the_end) {
  Rng rng(1);
  EXPECT_EQ(parse_in_pieces("data: a\n\ndata: b", rng), (Strings{"a", "b"}));
}

TEST(Sse, a_line_without_end_is_refused_before_it_eats_the_memory) {
  SseParser parser;
  const std::string piece(std::size_t{1} << 20, 'x');
  bool ok = true;
  for (int i = 0; i < 70 && ok; ++i) ok = parser.feed(piece, [](std::string_view, std::size_t) {});
  EXPECT_FALSE(ok);
}

}  // namespace
}  // namespace assay::net
