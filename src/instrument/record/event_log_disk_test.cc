// The event log's file: what a disk takes of a write, what it promises, and how blocks fill up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "record/event_log.h"
#include "record/testing_said.h"
#include "record/testing_sync.h"

// In the place of the C library's.
extern "C" int fdatasync(int descriptor) {
  if (const int error = assay::record::FailingSync::error(); error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

extern "C" ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  if (assay::record::ShortWrites::interrupts()) {
    errno = EINTR;
    return -1;
  }
  const std::size_t taken = std::min(count, assay::record::ShortWrites::most());
  return ::syscall(SYS_write, descriptor, bytes, taken);
}

namespace assay::record {
namespace {

RunInfo disk_run() {
  RunInfo info{};
  info.run_id = "run-8";
  info.phases = {{PhaseKind::performance, "performance", true}};
  return info;
}

EventLogOptions two_small_blocks() {
  EventLogOptions options{};
  options.block_bytes = 3 * kRecordMax;
  options.blocks = 2;
  return options;
}

// Replays what a pipe took.
Result<LogEnd> replay_bytes(std::string_view bytes) {
  const TempFolder folder;
  put_file(folder.path() / "events-0.alog", bytes);
  Said said;
  return replay_event_log(folder.path() / "events-0.alog", said);
}

TEST(EventLogDisk, an_end_that_is_not_synced_is_no_end_and_what_has_nothing_to_sync_ends_well) {
  const TempFolder folder;
  for (const int error : {EINVAL, ENOTSUP, EIO}) {
    const auto path = folder.path() / format("events-{}.alog", error);
    auto log = EventLogWriter::create(path, disk_run());
    ASSERT_TRUE(log.has_value()) << log.error().message;
    const FailingSync failing(error);
    const auto closed = (*log)->close({RunState::complete, ""});
    EXPECT_EQ(closed.has_value(), error != EIO) << error;
    EXPECT_EQ((*log)->health().failed, error == EIO);
    if (closed) continue;
    EXPECT_EQ(closed.error().code, Code::io);
    EXPECT_EQ(closed.error().message,
              format("event log {}: sync: Input/output error", path.string()));
    EXPECT_EQ((*log)->error(), closed.error().message);
  }
}

TEST(EventLogDisk, a_log_that_is_taken_in_parts_is_whole) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const ShortWrites in_parts(50);
  auto log = EventLogWriter::create(path, disk_run());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  ASSERT_TRUE((*log)->close({RunState::complete, ""}));
  Said said;
  const auto end = replay_event_log(path, said);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->end.state, RunState::complete);
  EXPECT_EQ(end->bytes, (*log)->health().bytes_written);
}

// A limit on file sizes represents the full disk. It has room for one byte, or for none.
TEST(EventLogDisk, a_beginning_that_finds_no_room_leaves_nothing_and_says_why) {
  const TempFolder folder;
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t room : {rlim_t{0}, rlim_t{1}}) {
    const auto path = folder.path() / format("events-{}.alog", room);
    const rlimit small{room, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    errno = 0;
    const auto log = EventLogWriter::create(path, disk_run());
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(log.has_value());
    EXPECT_EQ(log.error().code, Code::exhausted);
    EXPECT_EQ(log.error().message, format("event log {}: write: File too large", path.string()));
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
  }
  ::signal(SIGXFSZ, handler);
}

TEST(EventLogDisk, the_first_failure_stays_the_logs_error_and_its_end_says_what_was_lost) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  auto log = EventLogWriter::create(path, disk_run(), two_small_blocks());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{20'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  RandomTeller teller(9, false);
  while (!(*log)->health().failed) teller.tell(**log, 100);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  const FailingSync failing(EIO);
  const auto closed = (*log)->close({RunState::interrupted, "full"});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message,
            format("event log {}: sync: Input/output error", path.string()));
  EXPECT_EQ((*log)->error(), format("event log {}: write: File too large", path.string()));
  EXPECT_GT((*log)->health().lost_records, 0U);
  const auto bytes = read_file(path);
  ASSERT_TRUE(bytes);
  EXPECT_NE(bytes->find(format(R"("lost_records":{})", (*log)->health().lost_records)),
            std::string::npos);
}

TEST(EventLogDisk, a_block_that_a_long_text_begins_is_handed_over_by_when_the_text_was_read) {
  const TempFolder folder;
  EventLogOptions options = two_small_blocks();
  options.lossless = true;
  auto log = EventLogWriter::create(folder.path() / "events-0.alog", disk_run(), options);
  ASSERT_TRUE(log.has_value()) << log.error().message;
  const std::string text(3 * kRecordMax, 'x');
  StreamEvent event{.category = Category::text, .bytes = static_cast<std::uint32_t>(text.size())};
  event.arrival = Instant{} + 1_s;
  event.read = event.arrival + 100_ms;
  (*log)->on_stream_event(Query{}, event, text);
  const std::uint64_t full = (*log)->health().blocks_handed_over;
  EXPECT_GT(full, 0U);
  (*log)->on_tick(event.read + 149_ms);
  EXPECT_EQ((*log)->health().blocks_handed_over, full);
  (*log)->on_tick(event.read + 150_ms);
  EXPECT_EQ((*log)->health().blocks_handed_over, full + 1);
}

// All that is written to a pipe until it is closed.
class PipeReader {
 public:
  explicit PipeReader(int descriptor)
      : descriptor_(descriptor), thread_([this] {
          char buffer[4096];
          for (ssize_t n = 0; (n = ::read(descriptor_, buffer, sizeof buffer)) > 0;) {
            bytes_.append(buffer, static_cast<std::size_t>(n));
          }
        }) {}
  ~PipeReader() { ::close(descriptor_); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;
  const std::string& bytes() {
    thread_.join();
    return bytes_;
  }

 private:
  int descriptor_;
  std::string bytes_{};
  std::thread thread_;
};

TEST(EventLogDisk, what_an_earlier_call_left_in_errno_is_no_interruption_of_ours) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  errno = EINTR;
  auto log = EventLogWriter::create_on(ends[1], "a pipe", disk_run());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  PipeReader reader(ends[0]);
  ASSERT_TRUE((*log)->close({RunState::complete, ""}).has_value());
  const std::uint64_t written = (*log)->health().bytes_written;
  log->reset();
  EXPECT_EQ(reader.bytes().size(), written) << "the beginning is written once";
}

// A simulated run's time stands still while the disk is slow: it waits, whatever was asked for.
TEST(EventLogDisk, a_simulated_run_waits_for_a_slow_disk_and_loses_nothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
  RunInfo info = disk_run();
  info.simulated = true;
  auto log = EventLogWriter::create_on(ends[1], "a pipe", info, two_small_blocks());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  PipeReader reader(ends[0]);
  for (std::uint32_t i = 0; i < 50'000; ++i) (*log)->on_sent({.index = i}, {}, Instant{i});
  ASSERT_TRUE((*log)->close({RunState::complete, ""}).has_value());
  EXPECT_EQ((*log)->health().lost_records, 0U);
  EXPECT_GT((*log)->health().blocks_handed_over, 10U);
  EXPECT_EQ((*log)->health().blocks_written, (*log)->health().blocks_handed_over);
  log->reset();
  const auto end = replay_bytes(reader.bytes());
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_TRUE(end->whole()) << end->trouble;
  EXPECT_EQ(end->records, 50'000U);
}

// The disk stands still (a pipe that is not read yet), and the run is killed when it goes on.
TEST(EventLogDisk, a_log_without_an_end_has_the_number_of_records_that_were_lost_before) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto log = EventLogWriter::create_on(ends[1], "a pipe", disk_run(), two_small_blocks());
  ASSERT_TRUE(log.has_value()) << log.error().message;
  std::uint32_t told = 0;
  const auto tell = [&] {
    ++told;
    (*log)->on_sent({.index = told}, {}, Instant{told});
  };
  while ((*log)->health().lost_records == 0) tell();
  PipeReader reader(ends[0]);
  const std::uint64_t handed = (*log)->health().blocks_handed_over;
  while ((*log)->health().blocks_handed_over == handed) {
    tell();
    (*log)->flush();
  }
  const std::uint64_t lost = (*log)->health().lost_records;
  log->reset();
  const auto end = replay_bytes(reader.bytes());
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(end->trouble, "");
  EXPECT_EQ(end->end.state, RunState::crashed);
  EXPECT_EQ(end->lost_records, lost);
  EXPECT_EQ(end->records + lost, told);
}

TEST(EventLogDisk, a_block_that_was_packed_once_may_be_stored_as_it_is_the_next_time) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  EventLogOptions options{};
  options.zstd_level = 1;
  options.blocks = 2;
  options.lossless = true;
  auto log = EventLogWriter::create(path, disk_run(), options);
  ASSERT_TRUE(log.has_value()) << log.error().message;
  Rng rng(5);
  for (int i = 0; i < 6; ++i) {
    std::string text(4000, 'z');
    if (i >= 3) {
      for (char& c : text) c = static_cast<char>(rng.next());
    }
    (*log)->on_stream_event({}, {.bytes = 4000}, text);
    (*log)->flush();
  }
  ASSERT_TRUE((*log)->close({RunState::complete, ""}).has_value());
  Said said;
  const auto end = replay_event_log(path, said);
  ASSERT_TRUE(end.has_value()) << end.error().message;
  EXPECT_TRUE(end->whole()) << end->trouble;
  EXPECT_EQ(end->records, 6U);
}

TEST(EventLogDisk, a_block_takes_a_record_as_long_as_the_longest_one_has_room_and_is_numbered) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  EventLogOptions options{};
  options.block_bytes = 3 * kRecordMax;
  options.blocks = 4;
  options.lossless = true;
  auto made = EventLogWriter::create(path, disk_run(), options);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EventLogWriter& log = **made;
  const auto tell = [&](std::size_t bytes) {
    log.on_stream_event({}, {.bytes = static_cast<std::uint32_t>(bytes)}, std::string(bytes, 'x'));
  };
  // Each of these records has three bytes before its text. Together they leave room for exactly
  // one record of the longest kind.
  constexpr std::size_t kRest = 2 * kRecordMax - 2 * (kInlineTextMax + 3) - 3;
  for (const std::size_t bytes : {kInlineTextMax, kInlineTextMax, kRest}) tell(bytes);
  tell(1);
  EXPECT_EQ(log.health().blocks_handed_over, 0U);
  tell(1);
  EXPECT_EQ(log.health().blocks_handed_over, 1U);
  ASSERT_TRUE(log.close({RunState::complete, ""}).has_value());
  const std::string bytes = *read_file(path);
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < bytes.size(); ++number) {
    const auto header = open_header(std::string_view(bytes).substr(at));
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->header.sequence, number);
    if (number == 1) {
      EXPECT_EQ(header->header.payload_bytes, 2 * kRecordMax + 3);
    }
    at += kBlockHeaderBytes + header->header.stored_bytes;
  }
  EXPECT_EQ(number, 4U);
}

}  // namespace
}  // namespace assay::record
