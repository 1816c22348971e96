#include "report/live_lines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace assay::report {
namespace {

TEST(LiveLines, the_first_line_comes_at_once_and_the_last_with_the_end) {
  std::atomic<std::uint64_t> sent{1};
  std::vector<std::string> lines;  // of the thread, until it has ended
  {
    const LiveLines live(
        [&sent] {
          metrics::LiveSnapshot snapshot{};
          snapshot.phase = "performance";
          snapshot.sent = sent.load();
          snapshot.failures = {{Outcome::reset, 2, "by peer"}};
          snapshot.ttft = {.count = 1, .p50 = 50_ms, .p90 = 60_ms, .p99 = 70_ms};
          return snapshot;
        },
        [&lines](std::string_view line) { lines.emplace_back(line); }, 1'000'000_s);
    sent = 7;
  }
  ASSERT_GE(lines.size(), 1U);
  ASSERT_LE(lines.size(), 2U);  // one alone where the thread began after the end
  EXPECT_EQ(lines.back().back(), '\n');
  const Json last = *Json::parse(lines.back());
  EXPECT_EQ(last["sent"].as_uint(), 7U);
  EXPECT_EQ(last["step"].as_string(), "started");
  EXPECT_EQ(last["failures"]["reset"].as_uint(), 2U);
  EXPECT_EQ(last["ttft_ms"]["p90"].as_double(), 60.0);
  EXPECT_TRUE(last["tpot_ms"].is_null());
  EXPECT_TRUE(last["queries_planned"].is_null());
}

}  // namespace
}  // namespace assay::report
