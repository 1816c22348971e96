#include "meter/collector.h"

#include <gtest/gtest.h>

#include "base/testing_temp_folder.h"

namespace assay::meter {
namespace {

constexpr Duration kNever{3'600'000'000'000};

// Counts its readings; the one with the number `fails` fails.
class CountingSource final : public Source {
 public:
  CountingSource(std::string name, int fails) : name_(std::move(name)), fails_(fails) {}
  observe::TelemetrySource facts() const override {
    return {.kind = "test", .name = name_, .interval = kNever};
  }
  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    if (++readings_ == fails_) return Error{Code::refused, "HTTP 503"};
    std::vector<SourceReading> out;
    out.push_back({.at = clock.now(), .samples = {{"count", {}, 1.0 * readings_}}});
    return out;
  }
  std::uint64_t unreadable() const override { return 3; }

 private:
  std::string name_;
  int fails_;
  int readings_ = 0;
};

std::vector<std::unique_ptr<Source>> two_sources(int fails) {
  std::vector<std::unique_ptr<Source>> out;
  out.push_back(std::make_unique<CountingSource>("a", 0));
  out.push_back(std::make_unique<CountingSource>("b", fails));
  return out;
}

TEST(Collector, each_source_is_read_before_the_run_and_at_its_end) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "assay/telemetry.jsonl";
  const OsClock clock;
  auto collector = Collector::open(two_sources(0), {}, clock);
  ASSERT_TRUE(collector);
  ASSERT_TRUE((*collector)->start(file, "r1"));
  (*collector)->stop();
  (*collector)->stop();
  EXPECT_EQ((*collector)->trouble(), "");
  const auto read = observe::read_telemetry(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->trouble, "");
  ASSERT_EQ(read->sources.size(), 2U);
  EXPECT_EQ(read->sources[1].name, "b");
  EXPECT_EQ(read->readings.size(), 4U);
  ASSERT_EQ(read->costs.size(), 2U);
  EXPECT_EQ(read->costs[0].readings, 2U);
  EXPECT_EQ(read->costs[0].unreadable, 3U);
}

TEST(Collector, a_source_that_cannot_be_read_at_first_is_an_error_and_later_is_data) {
  const TempFolder folder;
  const OsClock clock;
  const auto refused = Collector::open(two_sources(1), {}, clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "telemetry: b: HTTP 503");
  auto collector = Collector::open(two_sources(2), {}, clock);
  ASSERT_TRUE(collector);
  ASSERT_TRUE((*collector)->start(folder.path() / "t.jsonl", "r1"));
  (*collector)->stop();
  const auto read = observe::read_telemetry(folder.path() / "t.jsonl");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->costs[1].failed, 1U);
  EXPECT_EQ(read->costs[0].failed, 0U);
}

TEST(Collector, a_full_disk_ends_the_recording_and_says_so) {
  const OsClock clock;
  auto collector = Collector::open(two_sources(0), {}, clock);
  ASSERT_TRUE(collector);
  ASSERT_TRUE((*collector)->start("/dev/full", "r1"));
  (*collector)->stop();
  EXPECT_NE((*collector)->trouble().find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace assay::meter
