#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "record/event_log.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

RunInfo shard_info(std::uint32_t index, std::uint32_t count, const std::string& run = "r") {
  RunInfo info{};
  info.run_id = run;
  info.shard_index = index;
  info.shard_count = count;
  info.phases = {{PhaseKind::performance, "performance", false}};
  return info;
}

// A shard that sends at `first`, `first` + 10, … and ends each query 5 later.
void write_shard(const std::filesystem::path& folder, const RunInfo& info, std::int64_t first,
                 int queries, RunState state) {
  auto writer =
      EventLogWriter::create(folder / "assay" / format("events-{}.alog", info.shard_index), info);
  ASSERT_TRUE(writer.has_value()) << writer.error().message;
  EventLogWriter& log = **writer;
  log.on_phase({0, PhaseStep::started, Instant{first - 1}});
  for (int i = 0; i < queries; ++i) {
    Query query{};
    query.index = info.shard_index + static_cast<std::uint32_t>(i) * info.shard_count;
    const Instant sent{first + i * 10};
    log.on_sent(query, sent, sent);
    Event event{};
    event.query = query;
    event.due = event.sent = sent;
    event.done = sent + 5_ns;
    log.on_done(event, "");
  }
  log.on_phase({0, PhaseStep::drained, Instant{first + queries * 10}});
  ASSERT_TRUE(log.close({state, ""}).has_value());
}

TEST(ReplayRun, shards_are_told_in_the_order_of_their_instants_as_one_run) {
  const TempFolder folder;
  write_shard(folder.path(), shard_info(0, 3), 100, 4, RunState::complete);
  write_shard(folder.path(), shard_info(1, 3), 103, 4, RunState::complete);
  write_shard(folder.path(), shard_info(2, 3), 101, 4, RunState::interrupted);
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.end.state, RunState::interrupted);
  EXPECT_EQ(replay->shards.size(), 3u);
  EXPECT_EQ(replay->end.records, 3 * 10u);
  ASSERT_EQ(said.lines.size(), 3 * 8u + 2);
  EXPECT_EQ(said.lines.front(), "phase 0 0 99");
  EXPECT_EQ(said.lines.back(), "phase 0 2 143");
  EXPECT_EQ(said.lines[1], "sent 0.0 sample 0 salt 00 100 100");
  EXPECT_EQ(said.lines[2], "sent 0.2 sample 0 salt 00 101 101");
  EXPECT_EQ(said.lines[3], "sent 0.1 sample 0 salt 00 103 103");
  EXPECT_EQ(said.lines[4].substr(0, 8), "done 0.0");
}

TEST(ReplayRun, a_missing_shard_makes_a_crashed_run) {
  const TempFolder folder;
  write_shard(folder.path(), shard_info(1, 2), 100, 4, RunState::complete);
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value());
  EXPECT_EQ(replay->end.end.state, RunState::crashed);
  EXPECT_EQ(replay->end.trouble, "1 of 2 logs are missing");
}

TEST(ReplayRun, logs_of_two_runs_are_not_mixed) {
  const TempFolder folder;
  write_shard(folder.path(), shard_info(0, 2, "a"), 100, 4, RunState::complete);
  write_shard(folder.path(), shard_info(1, 2, "b"), 100, 4, RunState::complete);
  Said said;
  EXPECT_FALSE(replay_run(folder.path(), said).has_value());
}

TEST(ReplayRun, a_folder_without_a_log_says_what_was_looked_for) {
  const TempFolder folder;
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_FALSE(replay.has_value());
  EXPECT_EQ(replay.error().code, Code::not_found);
  EXPECT_NE(replay.error().message.find("events-0.alog"), std::string::npos);
}

TEST(ReplayRun, a_single_log_may_be_named_itself) {
  const TempFolder folder;
  write_shard(folder.path(), shard_info(0, 1), 100, 2, RunState::complete);
  Said said;
  EXPECT_TRUE(replay_run(folder.path() / "assay" / "events-0.alog", said).has_value());
  EXPECT_EQ(said.lines.size(), 6u);
}

}  // namespace
}  // namespace assay::record
