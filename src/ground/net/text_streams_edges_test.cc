// Lines and events of a stream at the edges: of a piece, of the limits, and of a stream.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "net/lines.h"
#include "net/retry_after.h"
#include "net/sse.h"

namespace assay::net {
namespace {

using Told = std::vector<std::pair<std::string, std::size_t>>;

TEST(StreamEdges, a_last_line_used_up_nothing_and_the_parser_begins_anew) {
  LineParser parser;
  Told told;
  const auto tell = [&](std::string_view line, std::size_t used) { told.emplace_back(line, used); };
  EXPECT_FALSE(parser.no_room());
  EXPECT_TRUE(parser.feed("a\nlast", tell));
  parser.finish(tell);
  EXPECT_TRUE(
      parser.feed("\xEF\xBB\xBF"
                  "b\n",
                  tell));
  EXPECT_EQ(told, (Told{{"a", 2}, {"last", 0}, {"b", 5}}));
}

TEST(StreamEdges, a_line_may_be_64_mib_long_and_no_byte_more) {
  const std::string half(LineParser::kLineBytesMax / 2, 'x');
  for (const std::size_t more : {0U, 1U}) {
    LineParser parser;
    std::size_t size = 0;
    const auto tell = [&](std::string_view line, std::size_t) { size = line.size(); };
    EXPECT_TRUE(parser.feed(half, tell));
    EXPECT_EQ(parser.feed(half + std::string(more, 'x'), tell), more == 0);
    EXPECT_FALSE(parser.no_room());
    if (more != 0) continue;
    EXPECT_TRUE(parser.feed("\n", tell));
    EXPECT_EQ(size, LineParser::kLineBytesMax);
  }
}

Told events_of(SseParser& parser, std::initializer_list<std::string_view> pieces) {
  Told told;
  const auto tell = [&](std::string_view data, std::size_t used) {
    told.emplace_back(std::string(data) + (parser.names_error() ? "!" : ""), used);
  };
  for (const std::string_view piece : pieces) EXPECT_TRUE(parser.feed(piece, tell));
  EXPECT_TRUE(parser.finish(tell));
  return told;
}

TEST(StreamEdges, comments_of_an_error_are_its_words_until_it_is_named_otherwise) {
  SseParser parser;
  EXPECT_EQ(events_of(parser, {"event: error\n: one\n: two\n:three\n\n"}),
            (Told{{"one twothree!", 33}}));
  EXPECT_EQ(events_of(parser, {"event: error\n:one\n:two\n\n"}), (Told{{"onetwo!", 24}}));
  EXPECT_EQ(events_of(parser, {"event: error\n: one\nevent: error\n: two\n\n"}),
            (Told{{"one two!", 39}}));
  EXPECT_EQ(events_of(parser, {"event: error\n: one\nevent: x\nevent: error\n:two\n\n"}),
            (Told{{"two!", 47}}));
  EXPECT_EQ(events_of(parser, {"event: error\ndata: a\nevent: x\ndata: b\n\n"}),
            (Told{{"a\nb", 39}}));
  EXPECT_EQ(events_of(parser, {"data: a\nevent: error\n: words\ndata: b\n\n"}),
            (Told{{"a\nb!", 38}}));
}

TEST(StreamEdges, a_stream_that_begins_with_an_empty_line_is_no_other) {
  for (const std::string_view first : {"\ndata: a\n\n", "\r\ndata: a\n\n", "\rdata: a\n\n"}) {
    SseParser parser;
    EXPECT_EQ(events_of(parser, {first}), (Told{{"a", first.size()}}));
  }
  // A mark behind the first line is none.
  SseParser parser;
  EXPECT_EQ(events_of(parser, {"\n\xEF\xBB\xBF"
                               "data: a\n\n",
                               "data: b\n\n"}),
            (Told{{"b", 9}}));
}

TEST(StreamEdges, a_new_stream_has_nothing_of_the_one_before) {
  const auto ignore = [](std::string_view, std::size_t) {};
  SseParser parser;
  EXPECT_TRUE(parser.feed("data: a\ndata: b\r", ignore));
  parser.reset();
  EXPECT_EQ(events_of(parser, {"\n\n", "data: c\n\n"}), (Told{{"c", 9}}));
  EXPECT_TRUE(parser.feed("event: error\n: words\n", ignore));
  parser.reset();
  EXPECT_EQ(events_of(parser, {"event: error\n", ":", " new\n\n"}), (Told{{"new!", 6}}));
  EXPECT_TRUE(parser.feed("data: a\r", ignore));
  parser.reset();
  EXPECT_EQ(events_of(parser, {"\xEF\xBB\xBF"
                               "data: d\r\r"}),
            (Told{{"d", 12}}));
}

TEST(StreamEdges, a_new_stream_gives_back_the_memory_of_the_one_before) {
  MemoryBudget budget(1'000'000);
  {
    SseParser parser(&budget);
    const auto ignore = [](std::string_view, std::size_t) {};
    EXPECT_TRUE(parser.feed("data: " + std::string(100'000, 'x') + "\n", ignore));
    EXPECT_TRUE(parser.feed("data: " + std::string(100'000, 'y'), ignore));
    EXPECT_GE(budget.in_use(), 200'000U);
    parser.reset();
    EXPECT_EQ(budget.in_use(), 0U);
  }
  EXPECT_EQ(budget.in_use(), 0U);
}

TEST(StreamEdges, nothing_that_was_said_is_no_time_to_wait) {
  RetryAfter retry;
  EXPECT_EQ(retry.seconds(), -1);
  retry.take_date("Wed, 21 Oct 2015 07:28:00 GMT");
  EXPECT_EQ(retry.seconds(), -1);
  retry.take_retry_after("0");
  EXPECT_EQ(retry.seconds(), 0);
  RetryAfter other;
  other.take_retry_after("Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(other.seconds(), -1);
  other.take_date("Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(other.seconds(), 0);
}

}  // namespace
}  // namespace assay::net
