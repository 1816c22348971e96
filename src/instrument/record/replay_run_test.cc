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

// Each log is cut at another place, so that each leaves other queries without an end.
TEST(ReplayRun, the_whole_is_the_sum_of_its_shards_and_as_bad_as_the_worst) {
  const TempFolder folder;
  write_shard(folder.path(), shard_info(0, 3), 100, 4, RunState::complete);
  const auto log = [&](std::uint32_t i) {
    return folder.path() / "assay" / format("events-{}.alog", i);
  };
  for (std::uint32_t i = 1; i < 3; ++i) {
    auto writer = EventLogWriter::create(log(i), shard_info(i, 3));
    ASSERT_TRUE(writer.has_value());
    for (std::uint32_t k = 0; k < 2 * i; ++k) {
      Query query{};
      query.index = i + 3 * k;
      (*writer)->on_sent(query, Instant{200 + k}, Instant{200 + 10 * i + k});
    }
    ASSERT_TRUE((*writer)->close({RunState::crashed, "cut"}).has_value());
  }
  Said said;
  LogEnd sum{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto one = replay_run(log(i), said);
    ASSERT_TRUE(one.has_value()) << one.error().message;
    sum.bytes_read += one->end.bytes_read;
    sum.bytes += one->end.bytes;
    sum.blocks += one->end.blocks;
    sum.records += one->end.records;
    sum.unfinished += one->end.unfinished;
    sum.last = i == 0 ? one->end.last : std::max(sum.last, one->end.last);
  }
  EXPECT_EQ(sum.unfinished, 2U + 4U);
  const auto whole = replay_run(folder.path(), said);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->end.end.state, RunState::crashed);
  EXPECT_EQ(whole->end.bytes_read, sum.bytes_read);
  EXPECT_EQ(whole->end.bytes, sum.bytes);
  EXPECT_EQ(whole->end.blocks, sum.blocks);
  EXPECT_EQ(whole->end.records, sum.records);
  EXPECT_EQ(whole->end.unfinished, sum.unfinished);
  EXPECT_EQ(whole->end.last, sum.last);
}

TEST(ReplayRun, the_trouble_of_every_shard_is_told) {
  const TempFolder folder;
  std::string expected;
  for (std::uint32_t i = 0; i < 3; ++i) {
    write_shard(folder.path(), shard_info(i, 3), 100, 4, RunState::complete);
    if (i == 1) continue;
    const auto log = folder.path() / "assay" / format("events-{}.alog", i);
    std::filesystem::resize_file(log, std::filesystem::file_size(log) - 3 - i);
    Said said;
    const auto one = replay_run(log, said);
    ASSERT_TRUE(one.has_value());
    ASSERT_FALSE(one->shards.front().trouble.empty());
    expected += (expected.empty() ? "" : "; ") + one->shards.front().trouble;
  }
  Said said;
  const auto whole = replay_run(folder.path(), said);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->end.trouble, expected);
}

TEST(ReplayRun, logs_are_found_in_the_order_of_their_numbers) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "assay");
  for (const int i : {10, 2, 0, 11, 1}) {
    put_file(folder.path() / "assay" / format("events-{}.alog", i), "");
  }
  const auto logs = find_event_logs(folder.path());
  ASSERT_TRUE(logs.has_value());
  std::vector<std::string> names;
  for (const auto& one : *logs) names.push_back(one.filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"events-0.alog", "events-1.alog", "events-2.alog",
                                             "events-10.alog", "events-11.alog"}));
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
