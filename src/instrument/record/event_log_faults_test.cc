// The event log with a failing disk, and a reader's result for blocks that no writer writes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "record/event_log.h"
#include "record/run_info_json.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

RunInfo faulty_run() {
  RunInfo info{};
  info.run_id = "run-9";
  info.phases = {{PhaseKind::performance, "performance", true}};
  return info;
}

// A block as stored in a file.
std::string block_of(BlockType type, std::uint64_t sequence, std::string_view payload,
                     std::uint64_t lost = 0) {
  std::string block(kBlockHeaderBytes, '\0');
  block += payload;
  BlockHeader header{.type = type, .sequence = sequence, .lost_records = lost};
  header.stored_bytes = header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  seal_block(block.data(), header);
  return block;
}

std::string info_block(std::string_view change_key = "", const Json& value = {}) {
  Json json = to_json(faulty_run());
  json.set("grammar", kEventLogGrammar);
  json.set("texts", "all");
  if (!change_key.empty()) json.set(change_key, value);
  return block_of(BlockType::run_info, 0, json.dump());
}

std::string mark_block(std::uint64_t sequence, std::int64_t at, std::uint64_t lost = 0) {
  char buffer[kRecordMax];
  DeltaState state{};
  const char* const end = put_phase_mark(buffer, state, {0, PhaseStep::started, Instant{at}});
  return block_of(BlockType::events, sequence, {buffer, static_cast<std::size_t>(end - buffer)},
                  lost);
}

std::string end_block(std::uint64_t sequence, std::uint64_t lost = 0) {
  Json json = to_json(RunEnd{RunState::complete, "done"});
  json.set("lost_records", lost);
  return block_of(BlockType::end, sequence, json.dump());
}

class EventLogFaults : public testing::Test {
 protected:
  // A reader's result for these bytes; the error's text where it cannot begin.
  LogEnd read(const std::string& bytes) {
    put_file(path_, bytes);
    said_ = {};
    error_.clear();
    auto end = replay_event_log(path_, said_);
    if (!end) error_ = end.error().message;
    return end.value_or(LogEnd{});
  }

  TempFolder folder_{};
  std::filesystem::path path_ = folder_.path() / "events-0.alog";
  Said said_{};
  std::string error_{};
};

TEST_F(EventLogFaults, a_log_by_hand_is_read_and_counted) {
  const std::string bytes = info_block() + mark_block(1, 100) + mark_block(2, 90) + end_block(3);
  const LogEnd end = read(bytes);
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(end.whole()) << end.trouble;
  EXPECT_EQ(end.records, 2U);
  EXPECT_EQ(end.blocks, 4U);
  EXPECT_EQ(end.bytes, bytes.size());
  EXPECT_EQ(end.bytes_read, bytes.size());
  EXPECT_EQ(end.last, Instant{90}) << "of the last record";
  EXPECT_EQ(end.unfinished, 0U);
  EXPECT_EQ(end.end.reason, "done");
}

TEST_F(EventLogFaults, a_log_whose_first_block_says_nothing_of_a_run_is_refused_with_its_name) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {mark_block(0, 1), "not an event log"},
      {end_block(0), "not an event log"},
      {block_of(BlockType::run_info, 0, "{"), ""},
      {block_of(BlockType::run_info, 0, R"({"grammar":1,"texts":"all"})"), "no run_id"},
      {info_block("grammar", 2), "grammar 2; this version reads grammar 1"},
      {info_block("texts", "some"), "no text rule 'some'"},
      {info_block().substr(0, 60), "the file ends inside a block"},
  };
  for (const auto& [bytes, why] : cases) {
    read(bytes + end_block(1));
    if (why == "the file ends inside a block") read(bytes);
    EXPECT_NE(error_.find("events-0.alog"), std::string::npos) << why << ": " << error_;
    EXPECT_NE(error_.find(why), std::string::npos) << error_;
  }
}

TEST_F(EventLogFaults, a_gap_in_the_numbers_is_read_over_and_a_step_back_is_not) {
  LogEnd end = read(info_block() + mark_block(1, 1) + mark_block(5, 2, 7) + end_block(6, 9));
  EXPECT_EQ(end.trouble, "");
  EXPECT_EQ(end.records, 2U);
  EXPECT_EQ(end.lost_records, 9U);
  EXPECT_FALSE(end.whole());
  // The largest loss that any block or the end reports.
  end = read(info_block() + mark_block(1, 1, 12) + mark_block(2, 2, 3) + end_block(3, 9));
  EXPECT_EQ(end.lost_records, 12U);
  const std::string two = info_block() + mark_block(1, 1) + mark_block(2, 2);
  end = read(two + mark_block(2, 3) + end_block(3));
  EXPECT_EQ(end.records, 2U) << "the same number twice";
  EXPECT_NE(end.trouble.find("not the next"), std::string::npos);
  EXPECT_EQ(end.bytes_read, two.size());
  EXPECT_EQ(end.blocks, 3U);
  end = read(info_block() + mark_block(0, 3));
  EXPECT_EQ(end.records, 0U) << "the beginning has number 0";
}

TEST_F(EventLogFaults, only_a_gap_breaks_a_fragment_off) {
  char buffer[kRecordMax];
  DeltaState state{};
  const char* const head = put_long_event(buffer, state, {}, {}, 6);
  const std::string begun(buffer, static_cast<std::size_t>(head - buffer));
  const auto piece = [&](std::string_view text) {
    const char* const stop = put_text_piece(buffer, text);
    return std::string(buffer, static_cast<std::size_t>(stop - buffer));
  };
  const auto log = [&](std::uint64_t second) {
    return info_block() + block_of(BlockType::events, 1, begun + piece("abc")) +
           block_of(BlockType::events, second, piece("def")) + end_block(second + 1);
  };
  EXPECT_EQ(read(log(2)).records, 1U);
  EXPECT_TRUE(said_.lines[0].ends_with("'abcdef'"));
  const LogEnd end = read(log(3));
  EXPECT_EQ(end.records, 0U);
  EXPECT_EQ(end.trouble, "");
}

TEST_F(EventLogFaults, a_second_beginning_and_a_broken_end_are_told) {
  LogEnd end = read(info_block() + block_of(BlockType::run_info, 1, "{}") + end_block(2));
  EXPECT_NE(end.trouble.find("a second beginning"), std::string::npos);
  EXPECT_EQ(end.end.state, RunState::crashed);
  for (const char* const json : {"{", R"({"state":"asleep"})"}) {
    end = read(info_block() + mark_block(1, 1) + block_of(BlockType::end, 2, json));
    EXPECT_NE(end.trouble, "") << json;
    EXPECT_EQ(end.end.state, RunState::crashed);
    EXPECT_EQ(end.records, 1U);
  }
  const std::string whole = info_block() + mark_block(1, 1) + end_block(2);
  end = read(whole + "x");
  EXPECT_NE(end.trouble.find(
                format("at byte {} of {}: bytes after the end", whole.size(), whole.size() + 1)),
            std::string::npos)
      << end.trouble;
  EXPECT_EQ(end.bytes_read, whole.size());
}

TEST_F(EventLogFaults, a_bad_record_is_named_by_its_place_in_its_block) {
  const std::string first = info_block();
  const LogEnd end =
      read(first + block_of(BlockType::events, 1, std::string("\x0b\0\x09\0", 4)) + end_block(2));
  EXPECT_NE(end.trouble.find(format("at byte {} of", first.size())), std::string::npos);
  EXPECT_NE(end.trouble.find("bytes into the block's records: a record that"), std::string::npos)
      << end.trouble;
  EXPECT_EQ(end.bytes_read, first.size());
  EXPECT_EQ(end.end.state, RunState::crashed);
}

TEST_F(EventLogFaults, a_reader_that_has_ended_stays_at_its_end) {
  put_file(path_, info_block() + mark_block(1, 5) + end_block(2));
  auto reader = EventLogReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->info().run_id, "run-9");
  ASSERT_NE(reader->next(), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader->next(), nullptr);
  EXPECT_TRUE(reader->end().whole());
  EXPECT_EQ(reader->end().blocks, 3U);
}

// A pipe without a reader represents a disk that takes nothing after the first block.
class EventLogBroken : public testing::Test {
 protected:
  void SetUp() override { before_ = ::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { ::signal(SIGPIPE, before_); }

  std::unique_ptr<EventLogWriter> writer(EventLogOptions options = {}) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    auto made = EventLogWriter::create_on(ends[1], "a pipe", faulty_run(), options);
    EXPECT_TRUE(made) << made.error().message;
    ::close(ends[0]);
    return std::move(*made);
  }

 private:
  void (*before_)(int) = SIG_DFL;
};

TEST_F(EventLogBroken, every_record_is_counted_as_lost_and_none_as_written) {
  auto log = writer();
  const EventLogHealth before = log->health();
  EXPECT_FALSE(before.failed);
  EXPECT_EQ(log->error(), "");
  EXPECT_GT(before.bytes_written, kBlockHeaderBytes) << "the beginning";
  for (std::uint64_t block = 0; block < 3; ++block) {
    for (int i = 0; i < 10; ++i) log->on_sent({}, {}, {});
    log->flush();
  }
  log->settle();
  const EventLogHealth health = log->health();
  EXPECT_TRUE(health.failed);
  EXPECT_EQ(health.lost_records, 30U);
  EXPECT_EQ(health.blocks_handed_over, 3U);
  EXPECT_EQ(health.blocks_written, 0U);
  EXPECT_EQ(health.bytes_written, before.bytes_written);
  EXPECT_EQ(log->error(), "event log a pipe: write: Broken pipe");
  const auto closed = log->close({RunState::complete, ""});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message,
            "event log a pipe: write: Broken pipe (and it ends in a torn block)");
  EXPECT_EQ(log->error(), "event log a pipe: write: Broken pipe") << "the first words stay";
  EXPECT_EQ(log->health().lost_records, 30U);
}

TEST_F(EventLogBroken, an_end_that_the_disk_does_not_take_is_a_failure_by_itself) {
  auto log = writer();
  const auto closed = log->close({RunState::complete, ""});
  ASSERT_FALSE(closed);
  EXPECT_TRUE(log->health().failed);
  EXPECT_EQ(log->health().lost_records, 0U);
}

TEST_F(EventLogBroken, a_descriptor_that_takes_nothing_makes_no_log) {
  const auto full =
      EventLogWriter::create_on(::open("/dev/full", O_WRONLY | O_CLOEXEC), "full", faulty_run());
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::exhausted);
  EXPECT_NE(full.error().message.find("event log full: write: No space left"), std::string::npos);
  const TempFolder folder;
  const auto beneath_a_file = folder.path() / "file" / "events-0.alog";
  put_file(folder.path() / "file", "x");
  EXPECT_FALSE(EventLogWriter::create(beneath_a_file, faulty_run()));
}

TEST_F(EventLogFaults, what_a_writer_counts_is_what_a_reader_finds) {
  EventLogOptions options{};
  options.block_bytes = 3 * kRecordMax;
  options.blocks = 4;
  options.lossless = true;
  auto made = EventLogWriter::create(path_, faulty_run(), options);
  ASSERT_TRUE(made);
  EventLogWriter& log = **made;
  const std::uint64_t beginning = std::filesystem::file_size(path_);
  EXPECT_EQ(log.health().bytes_written, beginning);
  log.flush();
  EXPECT_EQ(log.health().blocks_handed_over, 0U) << "of nothing there is nothing to hand over";
  for (int i = 0; i < 7; ++i) log.on_sent({}, {}, Instant{i});
  log.settle();
  EventLogHealth health = log.health();
  EXPECT_EQ(health.blocks_handed_over, 1U);
  EXPECT_EQ(health.blocks_written, 1U);
  EXPECT_EQ(health.bytes_written, std::filesystem::file_size(path_));
  EXPECT_GT(health.bytes_written, beginning);
  ASSERT_TRUE(log.close({RunState::complete, "ok"}));
  health = log.health();
  EXPECT_EQ(health.bytes_written, std::filesystem::file_size(path_));
  EXPECT_FALSE(health.failed);
  Said said;
  const auto end = replay_event_log(path_, said);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->blocks, 3U);
  EXPECT_EQ(end->records, 7U);
  EXPECT_TRUE(end->whole());
}

TEST_F(EventLogFaults,
       a_block_is_handed_over_at_the_very_instant_and_the_next_begins_its_own_time) {
  EventLogOptions options{};
  options.hand_over = 100_ms;
  auto made = EventLogWriter::create(path_, faulty_run(), options);
  ASSERT_TRUE(made);
  EventLogWriter& log = **made;
  const auto handed = [&] { return log.health().blocks_handed_over; };
  const Instant start{1'000'000'000};
  log.on_tick(start + 10_s);
  EXPECT_EQ(handed(), 0U);
  log.on_phase({0, PhaseStep::started, start});
  log.on_tick(start + 99_ms);
  EXPECT_EQ(handed(), 0U);
  log.on_tick(start + 100_ms);
  EXPECT_EQ(handed(), 1U);
  log.on_tick(start + 10_s);
  EXPECT_EQ(handed(), 1U);
  // A record too: the current block is handed over, and the record begins the next one.
  log.on_sent({}, start, start + 20_s);
  log.on_stream_event({}, {.arrival = start + 20_s, .read = start + 20_s + 99_ms}, "a");
  EXPECT_EQ(handed(), 1U);
  log.on_stream_event({}, {.arrival = start + 20_s, .read = start + 20_s + 100_ms}, "b");
  EXPECT_EQ(handed(), 2U);
  Event done{.done = start + 20_s + 190_ms};
  done.read_delay_done = 10_ms;
  log.on_done(done, "");
  EXPECT_EQ(handed(), 3U) << "when our thread had the end";
  // An end with an unknown instant takes the time of the record before it.
  log.on_done(Event{.query = {.index = 1}}, "");
  EXPECT_EQ(handed(), 3U);
  ASSERT_TRUE(log.close({RunState::complete, ""}));
  EXPECT_TRUE(read(*read_file(path_)).whole());
  EXPECT_EQ(said_.lines.size(), 6U);
}

TEST_F(EventLogFaults, a_block_holds_records_as_long_as_one_more_surely_fits) {
  EventLogOptions options{};
  options.block_bytes = 3 * kRecordMax;
  options.blocks = 8;
  options.lossless = true;
  auto made = EventLogWriter::create(path_, faulty_run(), options);
  ASSERT_TRUE(made);
  EventLogWriter& log = **made;
  const std::string text(kInlineTextMax, 'x');
  const StreamEvent event{.bytes = kInlineTextMax};
  // Two such events take less than two thirds of the block, so a third fits, but not a fourth.
  for (int i = 0; i < 3; ++i) log.on_stream_event({}, event, text);
  EXPECT_EQ(log.health().blocks_handed_over, 0U);
  log.on_stream_event({}, event, text);
  EXPECT_EQ(log.health().blocks_handed_over, 1U);
  ASSERT_TRUE(log.close({RunState::complete, ""}));
  EXPECT_EQ(read(*read_file(path_)).blocks, 4U);
  EXPECT_EQ(said_.lines.size(), 4U);
}

TEST_F(EventLogFaults, a_fragment_of_the_longest_inline_size_is_one_record_and_a_longer_one_more) {
  for (const std::size_t size : {kInlineTextMax, kInlineTextMax + 1}) {
    std::filesystem::remove(path_);
    auto made = EventLogWriter::create(path_, faulty_run());
    ASSERT_TRUE(made);
    const std::string text(size, 'y');
    (*made)->on_stream_event({}, {.bytes = static_cast<std::uint32_t>(size)}, text);
    ASSERT_TRUE((*made)->close({RunState::complete, ""}));
    ASSERT_TRUE(read(*read_file(path_)).whole());
    ASSERT_EQ(said_.lines.size(), 1U);
    EXPECT_NE(said_.lines[0].find("'" + text + "'"), std::string::npos);
    // The block's header counts the pieces too.
    const std::string bytes = *read_file(path_);
    const std::size_t second = kBlockHeaderBytes + open_header(bytes)->header.stored_bytes;
    EXPECT_EQ(open_header(std::string_view(bytes).substr(second))->header.records,
              size == kInlineTextMax ? 1U : 3U);
  }
}

TEST_F(EventLogFaults, packed_blocks_are_smaller_and_noise_is_stored_as_it_is) {
  for (const bool noise : {false, true}) {
    std::filesystem::remove(path_);
    EventLogOptions options{};
    options.zstd_level = 1;
    auto made = EventLogWriter::create(path_, faulty_run(), options);
    ASSERT_TRUE(made);
    Rng rng(5);
    std::string text(4000, 'z');
    if (noise) {
      for (char& c : text) c = static_cast<char>(rng.next());
    }
    (*made)->on_stream_event({}, {.bytes = 4000}, text);
    ASSERT_TRUE((*made)->close({RunState::complete, ""}));
    const std::string bytes = *read_file(path_);
    const std::size_t second = kBlockHeaderBytes + open_header(bytes)->header.stored_bytes;
    const BlockHeader header = open_header(std::string_view(bytes).substr(second))->header;
    EXPECT_EQ(header.compressed, !noise);
    EXPECT_EQ(header.stored_bytes < header.payload_bytes, !noise);
    EXPECT_TRUE(read(bytes).whole());
  }
}

}  // namespace
}  // namespace assay::record
