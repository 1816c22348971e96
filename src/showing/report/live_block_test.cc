#include "report/live_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/display.h"
#include "base/text.h"
#include "report/testing_golden.h"

namespace assay::report {
namespace {

using metrics::LiveSnapshot;

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

LiveTitle busy_title() {
  return {.target = "gpt-oss-120b @ http://10.0.0.5:8000", .load = "poisson 38.4/s"};
}

LiveSnapshot busy_snapshot() {
  LiveSnapshot s;
  s.phase = "performance";
  s.elapsed = 852_s;
  s.duration_max = 1200_s;
  s.open_loop = true;
  s.sent = 32'976;
  s.completed = 32'718;
  s.failed = 2;
  s.in_flight = 256;
  s.failures = {{Outcome::reset, 2, "connection reset by peer\x1b[2J"}};
  s.offered_qps = 38.4;
  s.achieved_qps = 38.4;
  s.completed_qps = 38.31;
  s.output_tps = 9932;
  s.tokens_known = true;
  s.ttft = {32'718, 412_ms, 688_ms, 1210_ms};
  s.tpot = {32'718, 18'900_us, 21'300_us, 26'000_us};
  s.lateness = {32'976, 8_us, 19_us, 31_us};
  for (int i = 0; i < 60; ++i) {
    s.ttft_ms.emplace_back(400 + 60 * std::sin(i / 7.0));
    s.tpot_ms.emplace_back(19 + std::cos(i / 5.0));
    s.tokens.push_back(i < 6 ? 1500.0 * i : 9932);
    s.completions.push_back(38);
  }
  return s;
}

TEST(LiveBlock, shows_a_busy_run) {
  expect_golden("live/busy.txt", joined(live_block(busy_title(), busy_snapshot())));
}

TEST(LiveBlock, shows_a_closed_loop_that_counts_queries_and_knows_no_tokens) {
  LiveSnapshot s = busy_snapshot();
  s.open_loop = false;
  s.duration_max.reset();
  s.queries_planned = 46'000;
  s.tokens_known = false;
  s.failed = 0;
  s.failures.clear();
  expect_golden("live/closed_loop.txt",
                joined(live_block({.target = "m @ http://h", .load = "concurrency 256"}, s)));
}

TEST(LiveBlock, a_full_disk_is_told_below_the_title) {
  LiveSnapshot s = busy_snapshot();
  s.trouble = "the disk takes no more (No space left on device); 12,345 records are lost";
  const std::vector<std::string> lines = live_block(busy_title(), s);
  EXPECT_TRUE(lines[1].starts_with("! disk      the disk takes no more (No space")) << lines[1];
  EXPECT_NE(joined(lines).find("12,345 records"), std::string::npos);
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 80u);
}

TEST(LiveBlock, says_whether_a_run_is_steady_yet) {
  LiveSnapshot s = busy_snapshot();
  const std::string before = joined(live_block(busy_title(), s));
  s.steady = "too early to say: 1 of 4 super-passes";
  EXPECT_NE(joined(live_block(busy_title(), s)).find("state       too early to say"),
            std::string::npos);
  EXPECT_NE(live_line(s).find("  too early"), std::string::npos);
  s.steady.clear();
  EXPECT_EQ(joined(live_block(busy_title(), s)), before);
}

TEST(LiveBlock, shows_the_drain_and_the_beginning) {
  LiveSnapshot s = busy_snapshot();
  s.step = PhaseStep::issue_ended;
  expect_golden("live/draining.txt", joined(live_block(busy_title(), s)));
  expect_golden("live/ready.txt", joined(live_block(busy_title(), LiveSnapshot{})));
  LiveSnapshot first;
  first.phase = "warmup";
  first.kind = PhaseKind::warmup;
  first.queries_planned = 100;
  expect_golden("live/first_moment.txt", joined(live_block(busy_title(), first)));
}

TEST(LiveBlock, never_grows_beyond_its_box_nor_lets_a_server_write_escapes) {
  LiveSnapshot s = busy_snapshot();
  s.phase = "an accuracy dataset with a name longer than its column";
  s.completed = 123'456'789'012;
  s.failures = {};
  for (int i = 1; i < kOutcomes; ++i) {
    s.failures.push_back({static_cast<Outcome>(i), 10U, std::string(300, 'x') + "\x1b[H\n"});
  }
  LiveTitle title = busy_title();
  title.target = std::string(500, 'm');
  title.load = std::string(500, 'l');
  for (const std::size_t columns : {5U, 30U, 60U, 79U, 80U, 200U}) {
    const std::vector<std::string> lines = live_block(title, s, columns);
    EXPECT_LE(lines.size(), 12U);
    for (const std::string& line : lines) {
      EXPECT_LE(display_width(line), std::min<std::size_t>(columns, 80)) << line;
      EXPECT_EQ(line.find_first_of("\x1b\n\r"), std::string::npos) << line;
    }
  }
}

TEST(LiveBlock, figures_keep_their_columns_while_they_change) {
  LiveSnapshot a = busy_snapshot();
  LiveSnapshot b = a;
  b.ttft = {32'719, 9'810_us, 85_us, 12_s};
  const std::vector<std::string> lines_a = live_block(busy_title(), a);
  const std::vector<std::string> lines_b = live_block(busy_title(), b);
  for (const std::string_view word : {"P50", "P90", "P99"}) {
    EXPECT_EQ(display_width(lines_a[4].substr(0, lines_a[4].find(word))),
              display_width(lines_b[4].substr(0, lines_b[4].find(word))));
  }
}

TEST(LiveBlock, progress_is_the_nearer_of_the_two_ends) {
  LiveSnapshot s;
  EXPECT_EQ(live_progress(s), std::nullopt);
  s.queries_planned = 100;
  s.completed = 20;
  s.failed = 5;
  EXPECT_DOUBLE_EQ(live_progress(s).value(), 0.25);
  s.duration_max = 10_s;
  s.elapsed = 8_s;
  EXPECT_DOUBLE_EQ(live_progress(s).value(), 0.8);
  s.elapsed = 20_s;  // a drain exceeds the planned time
  EXPECT_DOUBLE_EQ(live_progress(s).value(), 1.0);
}

TEST(LiveBlock, a_line_for_a_log_has_no_bar_and_no_escape) {
  EXPECT_EQ(live_line(busy_snapshot()),
            "performance 14:12 (71 %)  in flight 256  done 32,720  failed 2  38.3/s  "
            "9,932 tok/s  TTFT P90 688 ms  TPOT P90 21.3 ms");
  EXPECT_EQ(live_line(LiveSnapshot{}), "getting ready");
}

TEST(ProgressBar, fills_by_halves) {
  EXPECT_EQ(progress_bar(0, 4), "────");
  EXPECT_EQ(progress_bar(0.125, 4), "╸───");
  EXPECT_EQ(progress_bar(0.5, 4), "━━──");
  EXPECT_EQ(progress_bar(0.999, 4), "━━━╸");
  EXPECT_EQ(progress_bar(1, 4), "━━━━");
  EXPECT_EQ(progress_bar(7, 4), "━━━━");
}

TEST(Sparkline, newest_is_rightmost_and_absent_is_blank) {
  using Values = std::vector<std::optional<double>>;
  EXPECT_EQ(sparkline(Values{0.0, 7.0}, 4), "  ▁▇");
  EXPECT_EQ(sparkline(Values{1.0, std::nullopt, 1.0}, 3), "▇ ▇");
  EXPECT_EQ(sparkline(Values{}, 3), "   ");
  EXPECT_EQ(sparkline(Values{0.0, 0.0}, 2), "▁▁");
  // Two values a column: means 1.5 and 3.5.
  EXPECT_EQ(sparkline(Values{1.0, 2.0, 3.0, 4.0}, 2), "▄▇");
  for (std::size_t n = 0; n < 200; ++n) {
    EXPECT_EQ(display_width(sparkline(Values(n, 1.0), 20)), 20U);
  }
}

}  // namespace
}  // namespace assay::report
