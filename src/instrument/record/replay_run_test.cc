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
  EXPECT_EQ(replay->info.shard_index, 0u) << "what the first shard says of the run";
  EXPECT_EQ(replay->shards.size(), 3u);
  EXPECT_EQ(replay->end.records, 3 * 10u);
  EXPECT_EQ(replay->end.last, Instant{143}) << "the second shard's";
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

// Each log is cut at another place, so that in each other queries have no end.
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
  const auto replay = replay_run(folder.path(), said);
  ASSERT_FALSE(replay.has_value());
  EXPECT_TRUE(replay.error().message.ends_with("events-1.alog: of run 'b', beside logs of run 'a'"))
      << replay.error().message;
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

// Marks only: the first shard's start, and of each other step the last shard's.
TEST(ReplayRun, a_phase_starts_with_its_first_shard_and_each_other_step_is_the_last_shards) {
  const TempFolder folder;
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto writer =
        EventLogWriter::create(folder.path() / format("events-{}.alog", i), shard_info(i, 3));
    ASSERT_TRUE(writer.has_value());
    const std::int64_t late = std::int64_t{2} - i;  // shard 0 is the last each time
    for (std::uint16_t phase = 0; phase < 2; ++phase) {
      for (const PhaseStep step :
           {PhaseStep::started, PhaseStep::issue_ended, PhaseStep::drained}) {
        (*writer)->on_phase(
            {phase, step, Instant{100 * phase + 10 * static_cast<int>(step) + late}});
      }
    }
    ASSERT_TRUE((*writer)->close({RunState::complete, ""}).has_value());
  }
  Said said;
  ASSERT_TRUE(replay_run(folder.path(), said).has_value());
  EXPECT_EQ(said.lines,
            (std::vector<std::string>{"phase 0 0 0", "phase 0 1 12", "phase 0 2 22",
                                      "phase 1 0 100", "phase 1 1 112", "phase 1 2 122"}));
}

TEST(ReplayRun, of_one_instant_the_first_shard_is_told_first) {
  const TempFolder folder;
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto writer =
        EventLogWriter::create(folder.path() / format("events-{}.alog", i), shard_info(i, 2));
    ASSERT_TRUE(writer.has_value());
    for (std::uint32_t k = 0; k < 3; ++k) {
      (*writer)->on_sent({.index = 2 * k + i}, Instant{}, Instant{10 * k});
    }
    ASSERT_TRUE((*writer)->close({RunState::complete, ""}).has_value());
  }
  Said said;
  ASSERT_TRUE(replay_run(folder.path(), said).has_value());
  ASSERT_EQ(said.lines.size(), 6u);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_TRUE(said.lines[k].starts_with(format("sent 0.{} ", k))) << said.lines[k];
  }
}

TEST(ReplayRun, the_whole_has_the_worst_state_wherever_it_is_and_its_reason) {
  constexpr RunState kStates[] = {RunState::complete, RunState::interrupted, RunState::crashed};
  for (const RunState a : kStates) {
    for (const RunState b : kStates) {
      const TempFolder folder;
      for (std::uint32_t i = 0; i < 2; ++i) {
        auto writer =
            EventLogWriter::create(folder.path() / format("events-{}.alog", i), shard_info(i, 2));
        ASSERT_TRUE(writer.has_value());
        ASSERT_TRUE((*writer)->close({i == 0 ? a : b, format("of {}", i)}).has_value());
      }
      Said said;
      const auto replay = replay_run(folder.path(), said);
      ASSERT_TRUE(replay.has_value());
      EXPECT_EQ(replay->end.end.state, std::max(a, b));
      EXPECT_EQ(replay->end.end.reason, b > a ? "of 1" : "of 0");
      EXPECT_EQ(replay->end.whole(), std::max(a, b) != RunState::crashed);
    }
  }
}

TEST(ReplayRun, lost_records_are_summed_and_missing_logs_are_added_to_the_trouble) {
  const TempFolder folder;
  const auto log = [&](std::uint32_t i) { return folder.path() / format("events-{}.alog", i); };
  for (const std::uint32_t i : {0U, 2U}) {
    write_shard(folder.path(), shard_info(i, 5), 100, 2, RunState::complete);
    std::filesystem::rename(folder.path() / "assay" / format("events-{}.alog", i), log(i));
  }
  std::filesystem::remove(folder.path() / "assay");
  // The last block of each is an end; another one says what was lost.
  for (const std::uint32_t i : {0U, 2U}) {
    const std::string bytes = *read_file(log(i));
    std::size_t at = 0;
    std::size_t last = 0;
    std::uint64_t sequence = 0;
    while (at < bytes.size()) {
      const auto header = open_header(std::string_view(bytes).substr(at));
      ASSERT_TRUE(header.has_value());
      sequence = header->header.sequence;
      last = at;
      at += kBlockHeaderBytes + header->header.stored_bytes;
    }
    const std::string json =
        format(R"({{"state":"complete","reason":"","lost_records":{}}})", 3 + i);
    std::string end(kBlockHeaderBytes, '\0');
    end += json;
    BlockHeader header{.type = BlockType::end, .sequence = sequence};
    header.stored_bytes = header.payload_bytes = static_cast<std::uint32_t>(json.size());
    seal_block(end.data(), header);
    put_file(log(i), bytes.substr(0, last) + end + (i == 2 ? "x" : ""));
  }
  Said said;
  const auto replay = replay_run(folder.path(), said);
  ASSERT_TRUE(replay.has_value()) << replay.error().message;
  EXPECT_EQ(replay->end.lost_records, 3u + 5u);
  EXPECT_TRUE(replay->end.trouble.ends_with("bytes after the end; 3 of 5 logs are missing"))
      << replay->end.trouble;
  EXPECT_EQ(replay->end.end.state, RunState::crashed);
}

TEST(ReplayRun, only_names_of_logs_are_logs_and_those_in_assay_come_first) {
  const TempFolder folder;
  for (const char* const name : {"events-.alog", "events-x.alog", "events--1.alog", "event-0.alog",
                                 "xevents-0.alog", "events-0.log", "events-1.alog.tmp"}) {
    put_file(folder.path() / name, "");
  }
  EXPECT_FALSE(find_event_logs(folder.path()).has_value());
  put_file(folder.path() / "events-3.alog", "");
  auto logs = find_event_logs(folder.path());
  ASSERT_TRUE(logs.has_value());
  ASSERT_EQ(logs->size(), 1u);
  EXPECT_EQ(logs->front(), folder.path() / "events-3.alog");
  std::filesystem::create_directory(folder.path() / "assay");
  put_file(folder.path() / "assay" / "events-0.alog", "");
  logs = find_event_logs(folder.path());
  ASSERT_TRUE(logs.has_value());
  ASSERT_EQ(logs->size(), 1u) << "not of both places";
  EXPECT_EQ(logs->front(), folder.path() / "assay" / "events-0.alog");
}

TEST(ReplayRun, what_is_no_run_is_named_for_what_it_is) {
  const TempFolder folder;
  const auto words = [](const std::filesystem::path& path) {
    const auto logs = find_event_logs(path);
    EXPECT_FALSE(logs.has_value());
    EXPECT_EQ(logs.error().code, Code::not_found);
    return logs.error().message;
  };
  const std::string quoted = "'" + folder.path().string() + "'";
  EXPECT_EQ(words(folder.path() / "none"),
            format("'{}': no such folder", (folder.path() / "none").string()));
  EXPECT_EQ(words(folder.path() / "none" / "assay"),
            format("'{}': no such folder", (folder.path() / "none").string()));
  // The same for the folder of the logs in it, which a person did not name.
  for (const auto& named : {folder.path(), folder.path() / "assay"}) {
    EXPECT_TRUE(words(named).starts_with(quoted + " is not a run's folder")) << words(named);
    EXPECT_NE(words(named).find("`assay run` makes one"), std::string::npos);
  }
  put_file(folder.path() / "config.yaml", "");
  EXPECT_TRUE(words(folder.path()).starts_with(quoted + ": the run ended before its load began"));
  put_file(folder.path() / "curve.json", "{}");
  EXPECT_NE(words(folder.path()).find("it is a curve's; its runs lie below points/"),
            std::string::npos);
  std::filesystem::remove(folder.path() / "config.yaml");
  EXPECT_NE(words(folder.path()).find("it is a curve's"), std::string::npos);
  const TempFolder foreign;
  put_file(foreign.path() / "x", "");
  std::filesystem::create_directory(foreign.path() / "performance");
  put_file(foreign.path() / "performance/result_summary.json", "{}");
  const std::string client = "a run of the reference client without its events (events.jsonl)";
  EXPECT_NE(words(foreign.path()).find(client), std::string::npos) << words(foreign.path());
  put_file(foreign.path() / "config.yaml", "");
  EXPECT_NE(words(foreign.path()).find(client), std::string::npos) << "it writes one, too";
  put_file(foreign.path() / "curve.json", "{}");
  EXPECT_NE(words(foreign.path()).find("it is a curve's"), std::string::npos);
  std::filesystem::remove(foreign.path() / "curve.json");
  std::filesystem::create_directory(foreign.path() / "assay");
  EXPECT_NE(words(foreign.path()).find("before its load began"), std::string::npos) << "our own";
  const TempFolder other;
  std::filesystem::create_symlink("/dev/null", other.path() / "null");
  EXPECT_NE(words(other.path() / "null").find("is a file, and a run is a folder"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::record
