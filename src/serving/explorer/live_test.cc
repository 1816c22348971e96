#include "explorer/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/testing_temp_folder.h"
#include "record/event_log.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

RunInfo info_of(const std::string& id, int concurrency) {
  RunInfo info{};
  info.run_id = id;
  info.phases = {{PhaseKind::performance, "performance", false}};
  info.facts =
      Json()
          .set("model", "m")
          .set(
              "run_config",
              Json().set("load_pattern",
                         Json().set("type", "concurrency").set("target_concurrency", concurrency)));
  return info;
}

// The log of a run so far: `done` queries, one each millisecond, and one in flight.
void write_log(const fs::path& folder, int concurrency, int done, bool whole) {
  fs::remove(folder / "assay/events-0.alog");
  auto writer = record::EventLogWriter::create(folder / "assay/events-0.alog",
                                               info_of(folder.string(), concurrency));
  ASSERT_TRUE(writer) << writer.error().message;
  record::EventLogWriter& log = **writer;
  log.on_phase({0, PhaseStep::started, Instant{}});
  for (int i = 0; i <= done; ++i) {
    Query query{};
    query.index = static_cast<std::uint32_t>(i);
    const Instant sent = Instant{} + 1_ms * i;
    log.on_sent(query, sent, sent);
    if (i == done) break;
    Event event{};
    event.query = query;
    event.due = event.sent = sent;
    event.first_token = sent + 400_us;
    event.done = sent + 900_us;
    log.on_done(event, "");
  }
  if (whole) {
    ASSERT_TRUE(log.close({RunState::complete, ""}));
  }
}

void end_run(const fs::path& folder) {
  ASSERT_TRUE(write_file_atomic(folder / "assay/run.json", "{\"files\":[]}"));
}

struct Watch {
  TempFolder folder{};
  SimClock clock{};
  LiveRuns live{};

  fs::path runs() const { return folder.path() / "runs"; }
  std::string store() const { return (folder.path() / "s.db").string(); }
  void open(WallTime began) {
    auto opened = store::open_store(store());
    ASSERT_TRUE(opened) << opened.error().message;
    live.open({.folders = {runs()}, .began = began}, std::move(*opened));
  }
  // Events after a second; only the latest of each run and curve.
  std::vector<std::pair<std::string, Json>> look(Duration later = 1_s) {
    clock.sleep_until(clock.now() + later);
    const std::uint64_t before = live.since(0).number;
    live.look(clock);
    std::vector<std::pair<std::string, Json>> out;
    for (const LiveEvent& event : live.since(before).events) {
      out.emplace_back(event.name, *Json::parse(event.data));
    }
    return out;
  }
  std::size_t points_stored() {
    const auto opened = store::open_store(store());
    const auto page = (*opened)->find_curves({});
    std::size_t points = 0;
    for (const store::FoundCurve& curve : page->curves) points += curve.points.size();
    return points;
  }
};

TEST(LiveRuns, a_run_is_told_as_it_grows_and_stored_when_it_ends) {
  Watch watch;
  watch.open({});
  const fs::path run = watch.runs() / "one";
  write_log(run, 16, 50, false);
  auto news = watch.look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].first, "run");
  EXPECT_EQ(news[0].second["model"].as_string(), "m");
  EXPECT_EQ(news[0].second["concurrency"].as_double(), 16);
  EXPECT_EQ(news[0].second["completed"].as_int(), 50);
  EXPECT_EQ(news[0].second["in_flight"].as_int(), 1);
  EXPECT_FALSE(news[0].second["ended"].as_bool(true));
  EXPECT_TRUE(watch.look().empty()) << "nothing new, nothing said";

  write_log(run, 16, 80, false);
  news = watch.look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].second["completed"].as_int(), 80);
  EXPECT_EQ(watch.points_stored(), 0u);

  write_log(run, 16, 100, true);
  end_run(run);
  news = watch.look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_TRUE(news[0].second["ended"].as_bool());
  EXPECT_EQ(watch.points_stored(), 1u);
  EXPECT_TRUE(watch.look().empty());
}

TEST(LiveRuns, a_log_that_stops_growing_is_said_to_be_silent_once) {
  Watch watch;
  watch.open({});
  write_log(watch.runs() / "one", 4, 5, false);
  ASSERT_EQ(watch.look().size(), 1u);
  EXPECT_TRUE(watch.look(29_s).empty());
  const auto news = watch.look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_TRUE(news[0].second["silent"].as_bool());
  EXPECT_FALSE(news[0].second["ended"].as_bool(true));
  EXPECT_TRUE(watch.look().empty());
}

TEST(LiveRuns, what_was_over_before_the_watch_began_is_no_news) {
  Watch watch;
  const WallTime now = wall_now();
  write_log(watch.runs() / "ended", 4, 5, true);
  end_run(watch.runs() / "ended");
  write_log(watch.runs() / "killed", 8, 5, false);
  watch.open({now.ns + Duration(600_s).ns});
  EXPECT_TRUE(watch.look().empty());
  EXPECT_TRUE(watch.look(60_s).empty());
  // The run was resumed after all.
  write_log(watch.runs() / "killed", 8, 25, false);
  EXPECT_EQ(watch.look().size(), 1u);
}

TEST(LiveRuns, a_curve_says_which_points_are_done_and_which_is_going) {
  Watch watch;
  watch.open({});
  const fs::path curve = watch.runs() / "curve";
  Json points = Json::array();
  for (const int level : {1, 8, 64}) {
    points.push_back(Json()
                         .set("name", format("r{}", level))
                         .set("concurrency", level)
                         .set("declared_region", "low_latency")
                         .set("offline", "none"));
  }
  const Json plan = Json()
                        .set("format", "assay-curve")
                        .set("model", "m")
                        .set("curve_id", "c1")
                        .set("plan", Json().set("c_max", 64).set("points", points));
  ASSERT_TRUE(write_file_atomic(curve / "curve.json", plan.dump()));
  write_log(curve / "points/r1", 1, 10, true);
  end_run(curve / "points/r1");
  write_log(curve / "attempts/r8-1", 8, 10, false);
  write_log(curve / "points/r8", 8, 10, false);
  ASSERT_EQ(watch.look().size(), 3u) << "two runs and their curve";
  Json told;
  for (const LiveEvent& event : watch.live.since(0).events) {
    if (event.name == "curve") told = *Json::parse(event.data);
  }
  EXPECT_EQ(told["points_done"].as_int(), 1);
  EXPECT_EQ(told["points"].as_int(), 3);
  EXPECT_EQ(told["path"].as_string(), curve.string());
  EXPECT_FALSE(told["ended"].as_bool(true));
  ASSERT_EQ(told["levels"].size(), 3u);
  EXPECT_EQ(watch.points_stored(), 1u) << "the growing curve is in the store";
}

}  // namespace
}  // namespace assay::explorer
