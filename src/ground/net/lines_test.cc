#include "net/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::net {
namespace {

std::vector<std::string> lines_in_pieces(std::string_view body, std::size_t step) {
  LineParser parser;
  std::vector<std::string> out;
  const auto on_line = [&](std::string_view line, std::size_t) { out.emplace_back(line); };
  for (std::size_t at = 0; at < body.size(); at += step) {
    EXPECT_TRUE(parser.feed(body.substr(at, step), on_line));
  }
  parser.finish(on_line);
  return out;
}

TEST(LineParser, gives_the_same_lines_however_the_body_is_cut) {
  const std::string body =
      "\xEF\xBB\xBF{\"a\":1}\n\r\n\n{\"b\":\"\\n\"}\r\n\xEF\xBB\xBFx\n{\"c\":3}";
  const std::vector<std::string> wanted = {"{\"a\":1}", "{\"b\":\"\\n\"}", "\xEF\xBB\xBFx",
                                           "{\"c\":3}"};
  for (std::size_t step = 1; step <= body.size(); ++step) {
    EXPECT_EQ(lines_in_pieces(body, step), wanted) << "in pieces of " << step;
  }
}

TEST(LineParser, says_how_much_of_a_piece_a_line_took) {
  LineParser parser;
  std::vector<std::size_t> ends;
  const auto on_line = [&](std::string_view, std::size_t consumed) { ends.push_back(consumed); };
  EXPECT_TRUE(parser.feed("ab\ncd\ne", on_line));
  EXPECT_TRUE(parser.feed("f\n", on_line));
  EXPECT_EQ(ends, (std::vector<std::size_t>{3, 6, 2}));
}

TEST(LineParser, refuses_a_line_that_the_budget_does_not_allow) {
  MemoryBudget budget(1024);
  LineParser parser(&budget);
  const auto on_line = [](std::string_view, std::size_t) {};
  EXPECT_TRUE(parser.feed("short\n", on_line));
  EXPECT_FALSE(parser.feed(std::string(100'000, 'x'), on_line));
  EXPECT_TRUE(parser.no_room());
  parser.reset();
  EXPECT_FALSE(parser.no_room()) << "the next body has its own room";
}

TEST(LineParser, a_new_body_may_begin_with_a_mark_again) {
  LineParser parser;
  std::vector<std::string> out;
  const auto on_line = [&](std::string_view line, std::size_t) { out.emplace_back(line); };
  EXPECT_TRUE(parser.feed("one\nrest", on_line));
  parser.reset();
  EXPECT_TRUE(parser.feed("\xEF\xBB\xBFtwo\n", on_line));
  EXPECT_EQ(out, (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace assay::net
