#include "net/sse.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
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

// One feed's result: the data as JSON quotes them, their place, and the bytes used so far.
struct Given {
  std::string data{};
  std::ptrdiff_t at = -1;  // in the piece; -1: in a buffer of the parser's
  std::size_t consumed = 0;
  bool operator==(const Given&) const = default;
};
using AllGiven = std::vector<Given>;

void PrintTo(const Given& given, std::ostream* out) {
  *out << '"' << given.data << "\" at " << given.at << " by " << given.consumed;
}

AllGiven given_by(SseParser& parser, std::string_view piece) {
  AllGiven out;
  EXPECT_TRUE(parser.feed(piece, [&](std::string_view data, std::size_t consumed) {
    const std::less_equal<const char*> before;
    const bool inside = before(piece.data(), data.data()) &&
                        before(data.data() + data.size(), piece.data() + piece.size());
    out.push_back({std::string(data), inside ? data.data() - piece.data() : -1, consumed});
  }));
  return out;
}

TEST(Sse, one_event_in_one_piece_is_a_view_into_it) {
  SseParser parser;
  EXPECT_EQ(given_by(parser, ": hello\n\ndata: {\"a\":1}\n\n"), (AllGiven{{"{\"a\":1}", 15, 24}}));
  EXPECT_EQ(given_by(parser, "data:a\n\ndata: b\r\n\r\ndata:\n\ndata:  c\n\n"),
            (AllGiven{{"a", 5, 8}, {"b", 14, 19}, {"", 24, 26}, {" c", 32, 36}}));
  EXPECT_EQ(given_by(parser, "data:\r\n\r\ndata: \r\n\r\n"), (AllGiven{{"", 5, 9}, {"", 15, 19}}));
}

// Rarer events are gathered, and their ends are counted as well.
TEST(Sse, an_event_that_is_not_one_plain_line_is_gathered) {
  SseParser parser;
  EXPECT_EQ(given_by(parser, "data: first\n\n"),
            (AllGiven{{"first", -1, 13}}));  // a byte order mark might come
  EXPECT_EQ(given_by(parser, "data: a\ndata: b\n\n"), (AllGiven{{"a\nb", -1, 17}}));
  EXPECT_EQ(given_by(parser, "data: a\r\n\n"), (AllGiven{{"a", -1, 10}}));
  EXPECT_EQ(given_by(parser, "data: a\n\r\n"), (AllGiven{{"a", -1, 9}}));
  EXPECT_EQ(given_by(parser, "data: a\rdata: b\n\n"), (AllGiven{{"a\nb", -1, 17}}));
  EXPECT_EQ(given_by(parser, "data: a\r\r"), (AllGiven{{"a", -1, 9}}));
  EXPECT_EQ(given_by(parser, "\ndata: a\n"), AllGiven{});  // its LF belongs to the CR before
  EXPECT_EQ(given_by(parser, "\ndata: b\n\n"), (AllGiven{{"a", -1, 1}, {"b", 7, 10}}));
  EXPECT_EQ(given_by(parser, "da"), AllGiven{});
  EXPECT_EQ(given_by(parser, "ta: c\n\ndata: d\n\n"), (AllGiven{{"c", -1, 7}, {"d", 13, 16}}));
  EXPECT_EQ(given_by(parser, "data: e\r\n\r"), (AllGiven{{"e", -1, 10}}));
  EXPECT_EQ(given_by(parser, "\ndata: f\n\n"), (AllGiven{{"f", 7, 10}}));
  EXPECT_EQ(given_by(parser, "data: a\r\nx\ndata: b\r\n\r\n"), (AllGiven{{"a\nb", -1, 21}}));
  // The LF behind a piece belongs to the next one.
  const std::string_view more = "\ndata: g\r\n\r\n";
  EXPECT_EQ(given_by(parser, more.substr(0, 11)), (AllGiven{{"g", -1, 11}}));
}

// Any bytes may follow a piece: the next read's, or an older one's.
TEST(Sse, nothing_is_read_beyond_the_piece) {
  const std::string text =
      "data: a\r\n\r\nevent: error\n: c\n\ndata: b\n\ndata\n\nid: 7\n\ndata:c\n\n";
  for (std::size_t one = 0; one <= text.size(); ++one) {
    for (std::size_t two = one; two <= text.size(); ++two) {
      SseParser parser;
      std::string story;
      const std::string_view all = text;
      const auto take = [&](std::string_view data, std::size_t) {
        story += (parser.names_error() ? "!" : "|") + std::string(data);
      };
      parser.feed(all.substr(0, one), take);
      parser.feed(all.substr(one, two - one), take);
      parser.feed(all.substr(two), take);
      EXPECT_EQ(story, "|a!c|b||c") << one << " " << two;
    }
  }
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

// The parser's events; those named error have an exclamation mark in front.
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

// An error keeps only its own comments: none of an event that was cancelled or is over.
TEST(Sse, lines_between_those_of_the_data_are_no_data) {
  Rng rng(3);
  for (const char* const between : {": ping", "id: 1", "retry: 5", "other"}) {
    for (const char* const name : {"event: error\n", "event: x\n", ""}) {
      EXPECT_EQ(parse_in_pieces(format("{}data: a\n{}\ndata: b\n\n", name, between), rng),
                Strings{"a\nb"})
          << name << between;
    }
  }
}

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

TEST(Sse, a_byte_order_mark_is_skipped_at_the_start_alone) {
  SseParser parser;
  EXPECT_EQ(given_by(parser, "\xEF\xBB\xBF\ndata: a\n\n").size(), 1U);
  parser.reset();
  EXPECT_EQ(given_by(parser,
                     "\xEF\xBB\xBF"
                     "data: a\n\n")
                .size(),
            1U);
  EXPECT_EQ(given_by(parser,
                     "\xEF\xBB\xBF"
                     "data: a\n\n")
                .size(),
            0U);
  parser.reset();
  EXPECT_EQ(given_by(parser,
                     "\n\xEF\xBB\xBF"
                     "data: a\n\n")
                .size(),
            0U);
}

// Each state in which a stream can break off.
TEST(Sse, nothing_of_a_stream_is_left_for_the_next) {
  const auto nothing = [](std::string_view, std::size_t) {};
  for (const bool by_finish : {false, true}) {
    for (const char* before : {"data: x", "data: x\n", "event: error\n", "event: error\n: x\n",
                               "data: x\n\r", "x", ": x\n\n", "data: x\n\n"}) {
      SseParser parser;
      EXPECT_TRUE(parser.feed(before, nothing));
      if (by_finish) {
        EXPECT_TRUE(parser.finish(nothing));
      } else {
        parser.reset();
      }
      int events = 0;
      EXPECT_TRUE(parser.feed("\n\n", [&](std::string_view, std::size_t) { ++events; }));
      EXPECT_EQ(events, 0) << before;
      EXPECT_FALSE(parser.names_error());
      parser.reset();
      EXPECT_TRUE(parser.finish([&](std::string_view, std::size_t) { ++events; }));
      EXPECT_EQ(events, 0) << before;
      parser.reset();
      EXPECT_EQ(given_by(parser,
                         "\xEF\xBB\xBF"
                         "data: a\n\ndata: b\n\n"),
                (AllGiven{{"a", -1, 12}, {"b", 18, 21}}))
          << before;
    }
  }
}

TEST(Sse, an_end_gives_what_was_gathered_and_says_that_nothing_was_used_up_for_it) {
  SseParser parser;
  const auto nothing = [](std::string_view, std::size_t) {};
  for (const auto& [text, data] :
       {std::pair{"data: a\ndata: b", "a\nb"}, {"data: a\r", "a"}, {"data", ""}}) {
    EXPECT_TRUE(parser.feed(text, nothing));
    AllGiven given;
    EXPECT_TRUE(parser.finish([&](std::string_view last, std::size_t consumed) {
      given.push_back({std::string(last), -1, consumed});
    }));
    EXPECT_EQ(given, (AllGiven{{data, -1, 0}}));
  }
}

TEST(Sse, an_event_that_the_budget_does_not_allow_is_told_apart) {
  MemoryBudget budget(4096);
  const auto nothing = [](std::string_view, std::size_t) {};
  const std::string line = "data: " + std::string(3000, 'x');
  {
    SseParser parser(&budget);
    EXPECT_FALSE(parser.feed(line + line, nothing));  // of one line
    EXPECT_TRUE(parser.no_room());
    parser.reset();
    EXPECT_FALSE(parser.no_room());
    EXPECT_TRUE(parser.feed("data: a\n\n", nothing));
    EXPECT_TRUE(parser.feed("x\n" + line.substr(0, 2200), nothing));
    EXPECT_FALSE(parser.feed("\n\ndata: b\n\n", nothing));  // of its data
    EXPECT_TRUE(parser.no_room());
    parser.reset();
    EXPECT_TRUE(parser.feed(line.substr(0, 2200), nothing));
    int events = 0;
    EXPECT_FALSE(parser.finish([&](std::string_view, std::size_t) { ++events; }));
    EXPECT_EQ(events, 0);  // of its data, at the end: half of them are none
    EXPECT_FALSE(parser.no_room());
    EXPECT_TRUE(parser.finish(nothing));
  }
  EXPECT_EQ(budget.in_use(), 0U);
}

TEST(Sse, an_event_may_be_64_mib_long_and_no_byte_more) {
  const auto nothing = [](std::string_view, std::size_t) {};
  const std::string half(SseParser::kEventBytesMax / 2, 'x');
  SseParser parser;
  EXPECT_TRUE(parser.feed("data:", nothing));
  EXPECT_TRUE(parser.feed(half, nothing));
  EXPECT_TRUE(parser.feed("\n", nothing));  // one half is data, the other half a line
  EXPECT_TRUE(parser.feed(half, nothing));
  EXPECT_FALSE(parser.feed("x", nothing));
  EXPECT_FALSE(parser.no_room());
  parser.reset();
  EXPECT_TRUE(parser.feed("data: a\n", nothing));
}

}  // namespace
}  // namespace assay::net
