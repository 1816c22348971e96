#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "record/clock_map.h"
#include "record/clock_shift.h"
#include "record/event_log.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

RunInfo rank_info(std::uint32_t index, std::uint32_t count) {
  RunInfo info{};
  info.run_id = "r";
  info.shard_index = index;
  info.shard_count = count;
  info.phases = {{PhaseKind::performance, "performance", false},
                 {PhaseKind::accuracy, "later", false}};
  info.facts = Json().set("rank", Json().set("index", index).set("of", count).set("host", "h"));
  return info;
}

// A rank that sends one query at `at` of its own clock, and hears an event 5 and the end 9 later.
// Without an end it dies with the query in flight.
void write_rank(const std::filesystem::path& folder, const RunInfo& info, std::int64_t at,
                bool ends) {
  auto writer = EventLogWriter::create(folder / format("events-{}.alog", info.shard_index), info);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  EventLogWriter& log = **writer;
  log.on_phase({0, PhaseStep::started, Instant{at - 1}});
  Query query{};
  query.index = info.shard_index;
  log.on_sent(query, Instant{at - 1}, Instant{at});
  if (!ends) return;
  StreamEvent event{.category = Category::text, .bytes = 1};
  event.arrival = event.read = Instant{at + 5};
  log.on_stream_event(query, event, "x");
  Event done{.query = query};
  done.due = Instant{at - 1};
  done.sent = Instant{at};
  done.done = Instant{at + 9};
  log.on_done(done, "");
  for (const std::uint16_t phase : {std::uint16_t{0}, std::uint16_t{1}}) {
    if (phase == 1) log.on_phase({phase, PhaseStep::started, Instant{at + 10}});
    log.on_phase({phase, PhaseStep::issue_ended, Instant{at + 10}});
    log.on_phase({phase, PhaseStep::drained, Instant{at + 10}});
  }
  ASSERT_TRUE(log.close({RunState::complete, ""}).has_value());
}

// Exact probes: no time passes on the way.
RankClock clock_of(std::uint32_t rank, std::int64_t offset) {
  RankClock out{.rank = rank, .host = format("host{}", rank), .shard_first = rank};
  if (rank == 0) return out;
  for (const std::int64_t at : {0, 1'000}) {
    const Instant there{at + offset};
    out.probes.push_back({Instant{at}, there, there, Instant{at}});
  }
  return out;
}

void write_clocks(const std::filesystem::path& folder, const std::vector<RankClock>& clocks) {
  put_file(folder / kClocksName, to_json(clocks).dump());
}

std::string at(const Said& said, std::string_view begin) {
  for (const std::string& line : said.lines) {
    if (line.starts_with(begin)) return line;
  }
  return {};
}

std::vector<std::string> marks_of(const Said& said) {
  std::vector<std::string> out;
  for (const std::string& line : said.lines) {
    if (line.starts_with("phase")) out.push_back(line);
  }
  return out;
}

TEST(ReplayRanks, a_log_of_no_rank_is_refused_by_name) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  write_rank(folder.path(), rank_info(1, 2), 600, true);
  write_clocks(folder.path(), {clock_of(0, 0)});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_FALSE(replay.has_value());
  EXPECT_EQ(replay.error().code, Code::corrupt);
  EXPECT_EQ(replay.error().message,
            format("{}: {} has no rank of this log", (folder.path() / "events-1.alog").string(),
                   kClocksName));
}

TEST(ReplayRanks, a_log_that_is_missing_beside_a_lost_rank_is_missed) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 3), 100, true);
  std::vector<RankClock> clocks{clock_of(0, 0), clock_of(1, -498), clock_of(2, 5)};
  clocks[2].lost = "its disk is gone";
  write_clocks(folder.path(), clocks);
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::crashed);
  EXPECT_EQ(replay->end.trouble, "1 of 2 logs are missing");
}

TEST(ReplayRanks, all_instants_are_in_the_time_of_rank_0) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  write_rank(folder.path(), rank_info(1, 2), 600, true);
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, -498)});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::complete);
  EXPECT_EQ(replay->ranks.size(), 2u);
  EXPECT_EQ(said.lines[0], "phase 0 0 99") << "rank 0 starts first";
  EXPECT_EQ(at(said, "sent 0.0"), "sent 0.0 sample 0 salt 00 99 100");
  EXPECT_EQ(at(said, "sent 0.1"), "sent 0.1 sample 0 salt 00 101 102");
  EXPECT_NE(at(said, "event 0.1").find(" 107 107-0 "), std::string::npos) << at(said, "event 0.1");
  EXPECT_NE(at(said, "done 0.1").find(" 111 "), std::string::npos) << at(said, "done 0.1");
  EXPECT_EQ(at(said, "phase 0 2"), "phase 0 2 112") << "with the last rank";
  const std::size_t first = static_cast<std::size_t>(
      std::ranges::find(said.lines, at(said, "sent 0.1")) - said.lines.begin());
  const std::size_t then = static_cast<std::size_t>(
      std::ranges::find(said.lines, at(said, "event 0.0")) - said.lines.begin());
  EXPECT_LT(first, then) << "in the order of the common time";
}

TEST(ReplayRanks, clocks_that_cannot_be_told_apart_from_a_step_are_refused) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  write_rank(folder.path(), rank_info(1, 2), 600, true);
  RankClock drifting = clock_of(1, 0);
  drifting.probes.back().received = drifting.probes.back().answered = Instant{1'500};
  write_clocks(folder.path(), {clock_of(0, 0), drifting});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_FALSE(replay.has_value());
  EXPECT_NE(replay.error().message.find("rank 1 (host1)"), std::string::npos);
}

// 1,000 ppm of drift over a query of 9 s are 9 ms. The query's instants all have the offset of its
// sending, so its latency stays what its host measured.
TEST(ReplayRanks, a_query_keeps_its_durations_when_the_clocks_drift) {
  const ClockMap map = *ClockMap::make({{Instant{0}, Instant{0}, Instant{0}, Instant{0}},
                                        {Instant{10'000'000'000}, Instant{10'009'000'000},
                                         Instant{10'009'000'000}, Instant{10'000'000'000}}});
  Said said;
  ClockShift shift(map, said);
  Query query{};
  shift.on_sent(query, Instant{0}, Instant{0});
  Event done{.query = query};
  done.due = done.sent = Instant{0};
  done.done = Instant{9'000'000'000};
  shift.on_done(done, "");
  EXPECT_NE(at(said, "done").find(" 9000000000 "), std::string::npos) << at(said, "done");
  EXPECT_GT(map.offset(Instant{9'000'000'000}).ns, 8'000'000) << "the offset did change";
}

TEST(ReplayRanks, what_a_dead_rank_had_in_flight_failed_and_the_run_goes_on) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 3), 100, true);
  write_rank(folder.path(), rank_info(1, 3), 600, false);
  write_rank(folder.path(), rank_info(2, 3), 300, true);
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, -500), clock_of(2, -200)});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::interrupted);
  EXPECT_EQ(replay->end.end.reason, "rank 1 (host1) died before its end");
  EXPECT_EQ(replay->end.unfinished, 0u);
  const std::string done = at(said, "done 0.1");
  EXPECT_NE(done.find("cancelled"), std::string::npos) << done;
  EXPECT_NE(done.find("'rank 1 (host1) died'"), std::string::npos) << done;
  EXPECT_EQ(at(said, "phase 0 2"), "phase 0 2 110") << "the phase ends with the living";
  EXPECT_EQ(at(said, "phase 1 2"), "phase 1 2 110");
}

// No living rank ends a phase: each ends with the last rank that died, those not begun too.
TEST(ReplayRanks, every_phase_of_a_run_whose_ranks_all_died_ends_once_and_no_other) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, false);
  write_rank(folder.path(), rank_info(1, 2), 603, false);
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, -500)});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(marks_of(said),
            (std::vector<std::string>{"phase 0 0 99", "phase 0 1 103", "phase 0 2 103",
                                      "phase 1 1 103", "phase 1 2 103"}));
  EXPECT_EQ(replay->end.end.reason,
            "rank 0 (host0) died before its end; rank 1 (host1) died "
            "before its end");
}

TEST(ReplayRanks, a_rank_that_died_ends_no_step_that_it_had_ended_itself) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  {
    auto log = EventLogWriter::create(folder.path() / "events-1.alog", rank_info(1, 2));
    ASSERT_TRUE(log.has_value());
    (*log)->on_phase({0, PhaseStep::started, Instant{600}});
    (*log)->on_phase({0, PhaseStep::issue_ended, Instant{605}});
  }
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, -500)});
  Said said;
  ASSERT_TRUE(replay_run(folder.path(), said).has_value());
  EXPECT_EQ(marks_of(said),
            (std::vector<std::string>{"phase 0 0 99", "phase 0 1 110", "phase 0 2 110",
                                      "phase 1 0 110", "phase 1 1 110", "phase 1 2 110"}));
}

// Two ranks end early, and a third dies: the first reason and the death are named, and what the
// living left open stays open.
TEST(ReplayRanks, the_end_is_the_first_of_the_worst_and_names_each_rank_that_was_lost) {
  const TempFolder folder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto log = EventLogWriter::create(folder.path() / format("events-{}.alog", i), rank_info(i, 3));
    ASSERT_TRUE(log.has_value());
    (*log)->on_sent({.index = i}, Instant{1}, Instant{2});
    ASSERT_TRUE((*log)->close({RunState::interrupted, format("why {}", i)}).has_value());
  }
  write_rank(folder.path(), rank_info(2, 3), 600, false);
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, 0), clock_of(2, -500)});
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::interrupted);
  EXPECT_EQ(replay->end.end.reason, "why 0; rank 2 (host2) died before its end");
  EXPECT_EQ(replay->end.unfinished, 2u);
}

TEST(ReplayRanks, one_ranks_records_can_be_had_alone) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  write_rank(folder.path(), rank_info(1, 2), 600, true);
  write_clocks(folder.path(), {clock_of(0, 0), clock_of(1, -498)});
  Said said;
  const auto replay = replay_run(folder.path(), said, 1);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::complete);
  EXPECT_EQ(at(said, "sent 0.0"), "");
  EXPECT_EQ(at(said, "sent 0.1"), "sent 0.1 sample 0 salt 00 101 102");
  EXPECT_FALSE(replay_run(folder.path(), said, 2).has_value());
}

TEST(ReplayRanks, a_missing_rank_is_named_and_a_missing_log_is_a_damage) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  RankClock lost = clock_of(1, -498);
  write_clocks(folder.path(), {clock_of(0, 0), lost});
  Said said;
  const auto damaged = replay_run(folder.path(), said);
  ASSERT_TRUE(damaged.has_value());
  EXPECT_EQ(damaged->end.end.state, RunState::crashed);
  EXPECT_EQ(damaged->end.trouble, "1 of 2 logs are missing");
  lost.lost = "its disk is gone";
  write_clocks(folder.path(), {clock_of(0, 0), lost});
  const auto known = replay_run(folder.path(), said);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->end.end.state, RunState::interrupted);
  EXPECT_EQ(known->end.end.reason, "rank 1 (host1): its disk is gone");
  EXPECT_EQ(known->end.trouble, "");
}

TEST(ReplayRanks, a_ranks_own_folder_is_a_whole_share) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(1, 2), 600, true);
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value());
  EXPECT_EQ(replay->end.end.state, RunState::complete);
  EXPECT_EQ(at(said, "sent 0.1"), "sent 0.1 sample 0 salt 00 599 600") << "its own time";
}

TEST(ReplayRanks, a_broken_clocks_file_names_itself) {
  const TempFolder folder;
  write_rank(folder.path(), rank_info(0, 2), 100, true);
  put_file(folder.path() / kClocksName, "{");
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_FALSE(replay.has_value());
  EXPECT_NE(replay.error().message.find("clocks.json"), std::string::npos);
}

}  // namespace
}  // namespace assay::record
