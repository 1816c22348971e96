// A curve finds C_max on a simulated system, in one run and after kills.
#include "campaign/curve/curve_find.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "campaign/curve/curve_run.h"
#include "campaign/run_folder.h"
#include "metrics/testing_hand_made.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

CurveSettings settings_of(std::uint64_t rows) {
  CurveSettings out{.id = "test", .version = "1", .started = "then"};
  plan::CurveWish wish;
  wish.rows = rows;
  wish.quick = true;
  wish.spare = 0;
  out.plan = *plan::plan_search(wish);
  out.plan.notes.emplace_back("a note from before");
  out.search = CurveSearch{.wish = wish, .range = plan::c_max_range(wish)};
  out.config = "name: x\n";
  out.datasets = Json::array();
  return out;
}

// Throughput grows up to a knee; beyond `breaks` queries fail. Stops the search after `left`
// levels.
struct System {
  std::int64_t knee = 70;
  std::int64_t breaks = 1'000'000;
  int left = 1000;
  std::vector<std::int64_t> asked{};

  Result<metrics::Point> operator()(std::int64_t level, const std::filesystem::path& folder) {
    if (left-- == 0) return Error{Code::refused, "asked to stop"};
    EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
    EXPECT_TRUE(make_folders(folder));
    asked.push_back(level);
    metrics::Point point;
    point.counts.completed = 10;
    point.counts.failed = level > breaks ? 1 : 0;
    point.rates.tps = 10.0 * static_cast<double>(std::min(level, knee));
    return point;
  }
};

void quiet(const std::string&) {}

TEST(CurveFind, TheCurvesPlanFollowsFromWhatIsFound) {
  const TempFolder folder;
  auto curve = CurveFolder::create(folder.path() / "c", settings_of(200));
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_FALSE(curve->finished()) << "a curve without points is not done";
  System system;
  ASSERT_TRUE(find_c_max(*curve, std::ref(system), quiet));
  const plan::CurvePlan& plan = curve->settings().plan;
  EXPECT_GE(plan.c_max, 63);
  EXPECT_LE(plan.c_max, 128);
  EXPECT_GE(plan.points.size(), 8U);
  EXPECT_EQ(plan.notes.back(), "a note from before");
  const auto again = CurveFolder::read(folder.path() / "c");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->settings().plan.to_json().dump(), plan.to_json().dump());
  EXPECT_EQ(again->settings().search->found["good"].as_int(), plan.c_max);
  EXPECT_EQ(again->settings().search->found["steps"].size(), system.asked.size());
}

TEST(CurveFind, StoppedAnywhereItAsksTheRestAndFindsTheSame) {
  const TempFolder folder;
  System whole;
  auto curve = CurveFolder::create(folder.path() / "whole", settings_of(200));
  ASSERT_TRUE(curve && find_c_max(*curve, std::ref(whole), quiet));
  for (int stop = 1; stop < static_cast<int>(whole.asked.size()); ++stop) {
    const auto place = folder.path() / std::to_string(stop);
    System first{.left = stop};
    {
      auto begun = CurveFolder::create(place, settings_of(200));
      ASSERT_TRUE(begun);
      EXPECT_FALSE(find_c_max(*begun, std::ref(first), quiet));
    }
    // An interrupted run is in the next level's folder.
    const std::int64_t next = whole.asked[static_cast<std::size_t>(stop)];
    ASSERT_TRUE(make_folders(place / "search" / ("r" + std::to_string(next)) / "assay"));
    System second;
    auto resumed = CurveFolder::resume(place);
    ASSERT_TRUE(resumed) << resumed.error().message;
    ASSERT_TRUE(find_c_max(*resumed, std::ref(second), quiet));
    EXPECT_EQ(first.asked.size() + second.asked.size(), whole.asked.size());
    EXPECT_EQ(resumed->settings().plan.to_json().dump(), curve->settings().plan.to_json().dump());
    EXPECT_TRUE(std::filesystem::exists(place / "attempts"));
  }
}

// A complete run folder: as many replies at once as the system serves, ten tokens each.
Result<metrics::Point> published(std::int64_t level, std::int64_t knee,
                                 const std::filesystem::path& folder) {
  RunInfo info{.version = "1", .run_id = "r", .simulated = true};
  info.phases = {{PhaseKind::performance, "performance", false}};
  TRY(make_folders(log_folder(folder)));
  ASSIGN_OR_RETURN(auto log,
                   record::EventLogWriter::create(log_folder(folder) / "events-0.alog", info));
  log->on_phase({0, PhaseStep::started, metrics::at_ms(0)});
  for (std::int64_t i = 0; i < std::min(level, knee); ++i) {
    metrics::tell(metrics::steady_query(0, static_cast<std::uint32_t>(i), 0, 10, 10, 10), *log);
  }
  log->on_phase({0, PhaseStep::drained, metrics::at_ms(100)});
  TRY(log->close({RunState::complete, ""}));
  ASSIGN_OR_RETURN(const LoadedRun run, publish(folder, {}));
  return run.point;
}

TEST(CurveFind, ALevelThatWasMeasuredAndNotJournalledIsNotMeasuredAgain) {
  constexpr std::int64_t kKnee = 70;
  std::vector<std::int64_t> asked;
  std::size_t stop = 0;  // levels before the kill, the last not journalled; 0: no kill
  const auto measure = [&](std::int64_t level,
                           const std::filesystem::path& folder) -> Result<metrics::Point> {
    asked.push_back(level);
    auto point = published(level, kKnee, folder);
    if (asked.size() == stop) return Error{Code::refused, "killed"};
    return point;
  };
  const TempFolder folder;
  auto whole = CurveFolder::create(folder.path() / "whole", settings_of(200));
  ASSERT_TRUE(whole);
  const auto found = find_c_max(*whole, measure, quiet);
  ASSERT_TRUE(found) << found.error().message;
  const std::vector<std::int64_t> levels = asked;
  for (std::size_t at = 1; at <= levels.size(); ++at) {
    const auto place = folder.path() / std::to_string(at);
    asked.clear();
    stop = at;
    {
      auto begun = CurveFolder::create(place, settings_of(200));
      ASSERT_TRUE(begun);
      EXPECT_FALSE(find_c_max(*begun, measure, quiet));
    }
    stop = 0;
    auto resumed = CurveFolder::resume(place);
    ASSERT_TRUE(resumed && find_c_max(*resumed, measure, quiet));
    EXPECT_EQ(asked, levels) << "each once, killed after " << at;
    EXPECT_EQ(resumed->settings().to_json().dump(), whole->settings().to_json().dump());
    EXPECT_FALSE(std::filesystem::exists(place / "attempts"));
  }
}

TEST(CurveFind, WithoutAnyGoodLevelThereIsNoCurve) {
  const TempFolder folder;
  auto curve = CurveFolder::create(folder.path() / "c", settings_of(200));
  ASSERT_TRUE(curve);
  System system{.breaks = 33};
  const auto found = find_c_max(*curve, std::ref(system), quiet);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("concurrency 34"), std::string::npos);
  EXPECT_EQ(system.asked, std::vector<std::int64_t>{34});
}

TEST(CurveFind, AFullDiskAtAnyLevelEndsTheSearchWithWhatWasFound) {
  const FindWish most{.what = "max-concurrency"};
  const FindWish slo{.what = "slo", .slo = "ttft_p99<=2s"};
  for (const FindWish& wish : {most, slo}) {
    for (std::size_t at = 0; at < 10; ++at) {
      std::size_t asked = 0;
      const auto measure = [&](std::int64_t level) -> Result<metrics::Point> {
        if (asked++ == at) return Error{Code::exhausted, "the disk took no more"};
        metrics::Point point;
        point.counts.completed = 10;
        point.rates.tps = 10.0 * static_cast<double>(std::min<std::int64_t>(level, 1000));
        return point;
      };
      const auto found = find_level(wish, measure, quiet);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ((*found)["find"].as_string(), wish.what);
      if (asked <= at) continue;  // answered before the kill
      EXPECT_EQ((*found)["stopped"].as_string(), "the disk took no more");
      EXPECT_EQ((*found)["steps"].size(), at);
      const std::string text = find_text(*found);
      EXPECT_NE(text.find(format("after {} levels", at)), std::string::npos) << text;
      EXPECT_EQ(text.find("no level is good"), std::string::npos) << "not even looked at: " << text;
    }
  }
  const auto gone = [](std::int64_t) -> Result<metrics::Point> {
    return Error{Code::refused, "asked to stop"};
  };
  EXPECT_FALSE(find_level(most, gone, quiet)) << "nothing else is passed over";
}

// A system whose TPOT grows with its load.
Result<metrics::Point> slower_by_load(std::int64_t level) {
  metrics::Point point;
  point.counts.completed = 10;
  point.counts.failed = level > 200 ? 3 : 0;
  point.rates.tps = 100;
  point.arrival.tpot.count = 1;
  point.arrival.tpot.percentiles.fill(1e5 * static_cast<double>(level) + 4.8e6);
  return point;
}

TEST(CurveFind, ALevelThatIsNotGoodSaysWhichLimitItBreaksAndByWhat) {
  std::vector<std::string> said;
  const auto say = [&said](const std::string& line) { said.push_back(line); };
  const auto none = find_level({.what = "slo", .slo = "tpot_p99<=4ms"}, slower_by_load, say);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_NE(said.back().find("not good: TPOT P99 is 4.90 ms, limit 4.00 ms"), std::string::npos)
      << said.back();
  EXPECT_EQ(find_text(*none),
            "no measured point keeps tpot_p99<=4ms: at concurrency 1, TPOT P99 is 4.90 ms, limit "
            "4.00 ms\n");
  const auto some = find_level({.what = "slo", .slo = "tpot_p99<=10ms"}, slower_by_load, quiet);
  ASSERT_TRUE(some);
  EXPECT_EQ((*some)["served"]["users"].as_int(), (*some)["good"].as_int());
  EXPECT_EQ((*some)["served"]["broken_at"].as_int(), (*some)["bad"].as_int());
  // A range of levels that ends before the system does.
  const auto open =
      find_level({.what = "slo", .slo = "tpot_p99<=1s", .most = 64}, slower_by_load, quiet);
  ASSERT_TRUE(open);
  EXPECT_EQ(find_text(*open).rfind("at least 64 users at once", 0), 0U) << find_text(*open);
  // A search for the most throughput says why, too.
  said.clear();
  const auto most = find_level({.what = "max-concurrency", .most = 512}, slower_by_load, say);
  ASSERT_TRUE(most);
  EXPECT_NE(said[1].find("not good: throughput gained less than 5 % for a doubling"),
            std::string::npos)
      << said[1];
}

TEST(CurveRun, AFullDiskAtAnyPointEndsTheCurveWithWhatWasMeasured) {
  const TempFolder folder;
  CurveSettings settings = settings_of(12);
  plan::CurveWish wish = settings.search->wish;
  wish.c_max = 64;
  settings.plan = *plan::plan_curve(wish);
  settings.search.reset();
  const std::size_t points = settings.plan.points.size();
  ASSERT_GE(points, 5U);
  for (std::size_t at = 0; at < points; ++at) {
    const auto place = folder.path() / format("c{}", at);
    std::size_t measured = 0;
    const auto measure = [&](const plan::CurvePoint&, const std::filesystem::path&,
                             double) -> Result<PointOutcome> {
      if (measured == at) return Error{Code::exhausted, "no room for 2048 KiB"};
      ++measured;
      return PointOutcome{.complete = true, .qps = 1};
    };
    auto curve = CurveFolder::create(place, settings);
    ASSERT_TRUE(curve) << curve.error().message;
    const auto end = run_curve(*curve, measure, {});
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->exhausted && !end->finished);
    EXPECT_EQ(end->why, "no room for 2048 KiB");
    EXPECT_EQ(measured, at);
  }
}

}  // namespace
}  // namespace assay::campaign
