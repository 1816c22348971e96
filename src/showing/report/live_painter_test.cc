#include "report/live_painter.h"

#include <gtest/gtest.h>

#include <charconv>
#include <future>

#include "base/text.h"

namespace assay::report {
namespace {

// A terminal with what the painter uses: cursor up, line and screen erasure.
class Terminal {
 public:
  void write(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\x1b') {
        i += escape(bytes.substr(i + 1));
      } else if (bytes[i] == '\r') {
        column_ = 0;
      } else if (bytes[i] == '\n') {
        ++row_;
        column_ = 0;
        if (row_ == lines_.size()) lines_.emplace_back();
      } else {
        std::string& line = lines_[row_];
        line.resize(std::max(line.size(), column_ + 1), ' ');
        line[column_++] = bytes[i];
      }
    }
  }
  std::string screen() const {
    std::string out;
    for (const std::string& line : lines_) out += line + "|";
    return out;
  }

 private:
  // Returns the bytes used after ESC.
  std::size_t escape(std::string_view rest) {
    std::size_t end = 1;
    while (end < rest.size() && (rest[end] < 'A' || rest[end] > 'Z')) ++end;
    std::size_t number = 0;
    std::from_chars(rest.data() + 1, rest.data() + end, number);
    switch (rest[end]) {
      case 'A':
        EXPECT_LE(number, row_) << "the cursor would leave the screen";
        row_ -= std::min(number, row_);
        break;
      case 'K':
        EXPECT_EQ(number, 2U);
        lines_[row_].clear();
        break;
      case 'J':
        lines_.resize(row_ + 1);
        lines_[row_].resize(std::min(lines_[row_].size(), column_));
        break;
      default:
        ADD_FAILURE() << "unknown escape " << rest[end];
    }
    return end + 1;
  }

  std::vector<std::string> lines_{""};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

TEST(LiveScreen, redraws_in_place_whether_the_block_grows_or_shrinks) {
  Terminal terminal;
  LiveScreen screen;
  terminal.write("before\n");
  terminal.write(screen.draw({"one", "two"}));
  EXPECT_EQ(terminal.screen(), "before|one|two||");
  terminal.write(screen.draw({"a", "b", "c"}));
  EXPECT_EQ(terminal.screen(), "before|a|b|c||");
  terminal.write(screen.draw({"x"}));
  EXPECT_EQ(terminal.screen(), "before|x||");
  terminal.write(screen.clear());
  EXPECT_EQ(terminal.screen(), "before||");
  EXPECT_EQ(screen.clear(), "");
}

metrics::LiveSnapshot snapshot() {
  metrics::LiveSnapshot s;
  s.phase = "performance";
  s.queries_planned = 10;
  return s;
}

// Runs a painter until it has written once, or not at all if it should be silent.
std::string painted(LivePainterOptions options, std::string_view said) {
  std::string out;
  std::promise<void> first;
  bool told = false;
  LivePainter painter(std::move(options), snapshot, [&](std::string_view bytes) {
    out += bytes;
    if (!told && bytes.find("performance") != std::string_view::npos) {
      told = true;
      first.set_value();
    }
  });
  if (said != "quiet") first.get_future().wait();
  painter.say(said);
  painter.stop();
  return out;
}

TEST(LivePainter, draws_on_a_terminal_and_leaves_it_clean) {
  Terminal terminal;
  LivePainterOptions options;
  options.style = [] { return TerminalStyle{.terminal = true}; };
  terminal.write(painted(options, "a note"));
  EXPECT_EQ(terminal.screen(), "a note||");
}

TEST(LivePainter, writes_plain_lines_where_there_is_no_terminal) {
  LivePainterOptions options;
  options.style = [] { return TerminalStyle{}; };
  const std::string out = painted(options, "a note");
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_TRUE(out.starts_with("performance 0:00 (0 %)")) << out;
  EXPECT_TRUE(out.ends_with("a note\n")) << out;
}

TEST(LivePainter, says_nothing_of_its_own_when_quiet) {
  LivePainterOptions options;
  options.quiet = true;
  options.style = [] { return TerminalStyle{.terminal = true}; };
  EXPECT_EQ(painted(options, "quiet"), "quiet\n");
}

TEST(LivePainter, fits_a_window_of_few_rows) {
  Terminal terminal;
  LivePainterOptions options;
  options.style = [] { return TerminalStyle{.terminal = true, .rows = 3}; };
  std::string out = painted(options, "done");
  terminal.write(out);
  EXPECT_EQ(terminal.screen(), "done||");
}

}  // namespace
}  // namespace assay::report
