#include "record/event_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "domain/tee.h"
#include "record/testing_said.h"

namespace assay::record {
namespace {

RunInfo some_run() {
  RunInfo info{};
  info.version = "0.1.0";
  info.run_id = "run-7";
  info.plan_digest = std::string(64, 'a');
  info.run_key = 0xfedcba9876543210;
  info.started.ns = 1'790'000'000'123'456'789;
  info.offset = {Duration{1'789'999'000'000'000'000}, 120_ns};
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", true},
                 {PhaseKind::accuracy, "gsm8k", false}};
  info.facts.set("model", "m");
  return info;
}

std::unique_ptr<EventLogWriter> writer_at(const std::filesystem::path& path,
                                          EventLogOptions options = {},
                                          const RunInfo& info = some_run()) {
  auto writer = EventLogWriter::create(path, info, options);
  EXPECT_TRUE(writer.has_value()) << writer.error().message;
  return std::move(*writer);
}

LogEnd replay(const std::filesystem::path& path, EventSink& sink) {
  const auto end = replay_event_log(path, sink);
  EXPECT_TRUE(end.has_value()) << end.error().message;
  return end.value_or(LogEnd{});
}

// Small blocks, so that a short test has many; the writer waits for the disk, so none is lost.
EventLogOptions small_blocks() {
  EventLogOptions options{};
  options.block_bytes = 3 * kRecordMax;
  options.blocks = 4;
  options.lossless = true;
  return options;
}

TEST(EventLog, gives_back_every_word_across_blocks) {
  const TempFolder folder;
  for (const int zstd_level : {0, 1}) {
    const auto path = folder.path() / format("events-{}.alog", zstd_level);
    EventLogOptions options = small_blocks();
    options.zstd_level = zstd_level;
    auto writer = writer_at(path, options);
    Said said;
    Tee both({writer.get(), &said});
    RandomTeller(11, false).tell(both, 20'000);
    ASSERT_TRUE(writer->close({RunState::complete, "all done"}).has_value());
    EXPECT_EQ(writer->health().lost_records, 0u);
    EXPECT_EQ(writer->health().bytes_written, std::filesystem::file_size(path));

    Said read;
    const LogEnd end = replay(path, read);
    EXPECT_EQ(first_difference(read.lines, said.lines), "");
    EXPECT_TRUE(end.whole()) << end.trouble;
    EXPECT_EQ(end.end.state, RunState::complete);
    EXPECT_EQ(end.end.reason, "all done");
    EXPECT_EQ(end.records, said.lines.size());
    EXPECT_GT(end.blocks, 20u);
    EXPECT_EQ(end.bytes_read, end.bytes);
  }
}

TEST(EventLog, keeps_what_the_run_says_of_itself) {
  const TempFolder folder;
  const auto path = folder.path() / "deep" / "events-0.alog";
  ASSERT_TRUE(writer_at(path)->close({RunState::interrupted, "Ctrl-C"}).has_value());
  const auto info = read_run_info(path);
  ASSERT_TRUE(info.has_value()) << info.error().message;
  const RunInfo wanted = some_run();
  EXPECT_EQ(info->run_id, wanted.run_id);
  EXPECT_EQ(info->plan_digest, wanted.plan_digest);
  EXPECT_EQ(info->run_key, wanted.run_key);
  EXPECT_EQ(info->started.ns, wanted.started.ns);
  EXPECT_EQ(info->offset.wall_minus_monotonic, wanted.offset.wall_minus_monotonic);
  EXPECT_EQ(info->offset.error, wanted.offset.error);
  ASSERT_EQ(info->phases.size(), 3u);
  EXPECT_EQ(info->phases[2].name, "gsm8k");
  EXPECT_EQ(info->phases[2].kind, PhaseKind::accuracy);
  EXPECT_TRUE(info->phases[1].open_loop);
  EXPECT_EQ(info->facts["model"].as_string(), "m");
  Said said;
  EXPECT_EQ(replay(path, said).end.reason, "Ctrl-C");
}

TEST(EventLog, does_not_write_over_a_log) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  ASSERT_TRUE(writer_at(path)->close({RunState::complete, ""}).has_value());
  EXPECT_FALSE(EventLogWriter::create(path, some_run()).has_value());
}

TEST(EventLog, texts_are_kept_for_the_phases_that_ask) {
  const TempFolder folder;
  for (const Texts texts : {Texts::none, Texts::accuracy, Texts::all}) {
    const auto path = folder.path() / (std::string(to_string(texts)) + ".alog");
    EventLogOptions options{};
    options.texts = texts;
    auto writer = writer_at(path, options);
    const std::string long_text(100'000, 'x');
    for (const std::uint16_t phase : {std::uint16_t{1}, std::uint16_t{2}}) {
      Query query{};
      query.phase = phase;
      StreamEvent event{};
      event.category = Category::text;
      event.bytes = 5;
      writer->on_stream_event(query, event, "hello");
      event.bytes = 100'000;
      writer->on_stream_event(query, event, long_text);
    }
    ASSERT_TRUE(writer->close({RunState::complete, ""}).has_value());
    Said said;
    replay(path, said);
    ASSERT_EQ(said.lines.size(), 4u);
    const auto holds = [&](std::size_t line, std::string_view text) {
      return said.lines[line].find(text) != std::string::npos;
    };
    EXPECT_EQ(holds(0, "'hello'"), texts == Texts::all);
    EXPECT_EQ(holds(1, long_text), texts == Texts::all);
    EXPECT_EQ(holds(2, "'hello'"), texts != Texts::none);
    EXPECT_EQ(holds(3, long_text), texts != Texts::none);
    EXPECT_TRUE(holds(1, " 100000 ")) << "its length is kept all the same";
  }
}

// For every cut and every flipped byte: a reader gets what was written, up to the damage.
TEST(EventLog, a_torn_or_changed_file_gives_all_before_the_wound) {
  const TempFolder folder;
  const auto path = folder.path() / "whole.alog";
  auto writer = writer_at(path);
  Said said;
  Tee both({writer.get(), &said});
  RandomTeller teller(3, false);
  for (int block = 0; block < 4; ++block) {
    teller.tell(both, 40);
    writer->flush();
  }
  ASSERT_TRUE(writer->close({RunState::complete, ""}).has_value());
  const auto whole = read_file(path);
  ASSERT_TRUE(whole.has_value());
  Said first;
  const std::size_t info_bytes = [&] {
    const auto header = open_header(*whole);
    return kBlockHeaderBytes + header->header.stored_bytes;
  }();

  const auto hurt = folder.path() / "hurt.alog";
  const auto read_hurt = [&](const std::string& bytes, std::size_t where, const char* how) {
    put_file(hurt, bytes);
    Said read;
    const auto end = replay_event_log(hurt, read);
    if (where < info_bytes) {
      EXPECT_FALSE(end.has_value()) << how << where;
      return;
    }
    ASSERT_TRUE(end.has_value()) << how << where << end.error().message;
    ASSERT_LE(read.lines.size(), said.lines.size());
    for (std::size_t i = 0; i < read.lines.size(); ++i) ASSERT_EQ(read.lines[i], said.lines[i]);
    EXPECT_FALSE(end->whole()) << how << where;
    EXPECT_LE(end->bytes_read, where) << how;
    // A cut at a block's border is clean: only the end is missing.
    if (end->bytes_read != bytes.size()) {
      EXPECT_NE(end->trouble.find(format("at byte {} of {}", end->bytes_read, bytes.size())),
                std::string::npos)
          << end->trouble;
    }
  };
  const std::size_t stride = whole->size() / 400;
  for (std::size_t cut = 0; cut < whole->size(); cut += 1 + cut % stride) {
    read_hurt(whole->substr(0, cut), cut, "cut at ");
  }
  for (std::size_t at = 0; at < whole->size(); at += 1 + at % stride) {
    std::string bytes = *whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    read_hurt(bytes, at, "flipped at ");
  }
  put_file(hurt, *whole + "x");
  EXPECT_NE(replay(hurt, first).trouble, "") << "bytes after the end";
}

TEST(EventLog, a_quiet_run_hands_over_by_its_ticks) {
  const TempFolder folder;
  auto writer = writer_at(folder.path() / "events-0.alog");
  writer->on_phase({0, PhaseStep::started, Instant{1'000'000'000}});
  writer->on_tick(Instant{1'100'000'000});
  EXPECT_EQ(writer->health().blocks_handed_over, 0u);
  writer->on_tick(Instant{1'200'000'000});
  EXPECT_EQ(writer->health().blocks_handed_over, 1u);
  writer->on_tick(Instant{9'000'000'000});
  EXPECT_EQ(writer->health().blocks_handed_over, 1u) << "nothing to hand over";
}

TEST(EventLog, a_busy_run_hands_over_without_ticks) {
  const TempFolder folder;
  auto writer = writer_at(folder.path() / "events-0.alog");
  for (int ms = 0; ms < 1000; ++ms) {
    Query query{};
    query.index = static_cast<std::uint32_t>(ms);
    writer->on_sent(query, Instant{}, Instant{ms * 1'000'000});
  }
  EXPECT_EQ(writer->health().blocks_handed_over, 6u);
}

TEST(EventLog, a_simulated_hour_is_not_cut_into_quarter_seconds) {
  const TempFolder folder;
  RunInfo info = some_run();
  info.simulated = true;
  const auto path = folder.path() / "events-0.alog";
  auto writer = writer_at(path, {}, info);
  for (std::int64_t s = 0; s < 3600; ++s) {
    writer->on_sent({}, Instant{}, Instant{s * 1'000'000'000});
    writer->on_tick(Instant{s * 1'000'000'000});
  }
  ASSERT_TRUE(writer->close({RunState::complete, ""}).has_value());
  EXPECT_EQ(writer->health().blocks_handed_over, 1u);
  EXPECT_TRUE(read_run_info(path)->simulated);
}

TEST(EventLog, a_log_without_an_end_is_of_a_crashed_run) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  {
    auto writer = writer_at(path);
    Query query{};
    for (query.index = 0; query.index < 5; ++query.index) writer->on_sent(query, {}, {});
    Event event{};
    event.query.index = 3;
    writer->on_done(event, "");
  }
  Said said;
  const LogEnd end = replay(path, said);
  EXPECT_EQ(end.end.state, RunState::crashed);
  EXPECT_EQ(end.trouble, "");
  EXPECT_EQ(end.records, 6u);
  EXPECT_EQ(end.unfinished, 4u);
}

// The child writes and reports how many records are on disk; then it is killed while it goes on.
TEST(EventLog, after_sigkill_every_record_handed_over_is_read) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto writer = EventLogWriter::create(path, some_run());
    if (!writer) ::_exit(1);
    RandomTeller teller(21, false);
    Said said;
    Tee both({writer->get(), &said});
    for (;;) {
      teller.tell(both, 1000);
      (*writer)->flush();
      // Emitting meanwhile would race with the writing thread, which might never win on a busy
      // machine.
      EventLogHealth health = (*writer)->health();
      for (; health.blocks_written < health.blocks_handed_over; health = (*writer)->health()) {
        if (health.failed) ::_exit(1);
        std::this_thread::yield();
      }
      const std::uint64_t records = said.lines.size();
      if (::write(ends[1], &records, sizeof records) != sizeof records) ::_exit(1);
    }
  }
  ::close(ends[1]);
  std::uint64_t promised = 0;
  for (std::uint64_t records = 0; promised < 10'000; promised = records) {
    ASSERT_EQ(::read(ends[0], &records, sizeof records), ssize_t{sizeof records});
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);

  Said read;
  const LogEnd end = replay(path, read);
  EXPECT_EQ(end.end.state, RunState::crashed);
  EXPECT_EQ(end.lost_records, 0u);
  ASSERT_GE(read.lines.size(), promised);
  Said wanted;
  RandomTeller teller(21, false);
  while (wanted.lines.size() < read.lines.size()) teller.tell_one(wanted);
  EXPECT_EQ(first_difference(read.lines, wanted.lines), "");
}

// A limit on file sizes represents the full disk: the write that reaches it comes back short.
TEST(EventLog, a_full_disk_is_told_at_once_and_keeps_what_was_written) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = EventLogWriter::create(path, some_run(), small_blocks());
    if (!writer) ::_exit(1);
    RandomTeller teller(8, false);
    while (!(*writer)->health().failed) teller.tell(**writer, 100);
    teller.tell(**writer, 1000);
    const bool said = (*writer)->error().find("File too large") != std::string::npos;
    // There is no space for the end either: its reason is longer than the free space.
    const auto closed = (*writer)->close({RunState::complete, std::string(20'000, 'x')});
    const bool named = !closed && closed.error().code == Code::exhausted;
    ::_exit(said && named && (*writer)->health().lost_records > 0 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Said read;
  const LogEnd end = replay(path, read);
  EXPECT_EQ(end.trouble, "") << "cut back to whole blocks";
  EXPECT_EQ(end.end.state, RunState::crashed);
  EXPECT_GT(end.bytes, 100'000u - 4 * kRecordMax);
  Said wanted;
  RandomTeller teller(8, false);
  while (wanted.lines.size() < read.lines.size()) teller.tell_one(wanted);
  EXPECT_EQ(first_difference(read.lines, wanted.lines), "");
}

TEST(EventLog, a_disk_that_has_room_again_takes_the_end) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};  // its hard limit stays: only root may raise one
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{100'000, before.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(3);
    auto writer = EventLogWriter::create(path, some_run(), small_blocks());
    if (!writer) ::_exit(1);
    RandomTeller teller(8, false);
    while (!(*writer)->health().failed) teller.tell(**writer, 100);
    ::setrlimit(RLIMIT_FSIZE, &before);
    const RunEnd end{RunState::interrupted, "disk full", true};
    ::_exit((*writer)->close(end) ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Said read;
  const LogEnd end = replay(path, read);
  EXPECT_EQ(end.trouble, "");
  EXPECT_EQ(end.end.state, RunState::interrupted);
  EXPECT_EQ(end.end.reason, "disk full");
  EXPECT_TRUE(end.end.out_of_space);
  EXPECT_GT(end.lost_records, 0u);
}

// The disk stands still (a pipe without a reader yet): the measuring thread goes on.
TEST(EventLog, blocks_that_find_no_room_are_counted_not_waited_for) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EventLogOptions options = small_blocks();
  options.lossless = false;
  auto created = EventLogWriter::create_on(ends[1], "a pipe", some_run(), options);
  ASSERT_TRUE(created.has_value()) << created.error().message;
  auto writer = std::move(*created);
  Said said;
  Tee both({writer.get(), &said});
  RandomTeller(4, false).tell(both, 20'000);
  const std::uint64_t lost = writer->health().lost_records;
  EXPECT_GT(lost, 15'000u) << "64 kB of pipe and four blocks hold no more";
  EXPECT_FALSE(writer->health().failed);

  std::string bytes;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      bytes.append(buffer, static_cast<std::size_t>(n));
    }
  });
  const auto closed = writer->close({RunState::complete, ""});
  ASSERT_TRUE(closed.has_value()) << "the end is there";
  const std::uint64_t lost_in_all = writer->health().lost_records;
  EXPECT_GE(lost_in_all, lost);
  writer.reset();
  reader.join();
  ::close(ends[0]);

  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  put_file(path, bytes);
  Said read;
  const LogEnd end = replay(path, read);
  EXPECT_EQ(end.trouble, "");
  EXPECT_EQ(end.end.state, RunState::complete);
  EXPECT_EQ(end.lost_records, lost_in_all);
  EXPECT_FALSE(end.whole());
  EXPECT_GT(read.lines.size(), 0u);
  EXPECT_EQ(first_difference({read.lines.begin(), read.lines.begin() + 100},
                             {said.lines.begin(), said.lines.begin() + 100}),
            "");
}

TEST(EventLog, what_is_no_log_is_refused_by_name) {
  const TempFolder folder;
  Said said;
  const auto missing = replay_event_log(folder.path() / "none.alog", said);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, Code::not_found);
  const auto other = folder.path() / "other.alog";
  for (const std::string& bytes : {std::string(), std::string("ASSAY"), std::string(500, 'z')}) {
    put_file(other, bytes);
    const auto end = replay_event_log(other, said);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().code, Code::corrupt);
    EXPECT_NE(end.error().message.find("other.alog"), std::string::npos) << end.error().message;
  }
}

}  // namespace
}  // namespace assay::record
