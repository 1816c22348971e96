// The cost of recording for the measuring thread, and the bytes an event on disk. The file is in
// the machine's temporary folder; the writing thread runs beside it, as in a run.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "record/event_log.h"

namespace assay::record {
namespace {

RunInfo bench_run() {
  RunInfo info{};
  info.run_id = "bench";
  info.phases = {{PhaseKind::performance, "performance", false}};
  return info;
}

// Streams take turns as in decode steps: all of them, a few µs apart; `burst` events share a read.
// Gaps, delays and words vary as in a run, so that compression is measured fairly.
struct Load {
  std::vector<Query> queries{};
  std::size_t next = 0;
  StreamEvent event{};
  int left = 0;
  int burst = 1;
  Rng rng{1};
  std::string_view word{};

  explicit Load(std::size_t streams, int burst_size, bool stamped) : burst(burst_size) {
    queries.resize(streams);
    for (std::uint32_t i = 0; i < streams; ++i) queries[i].index = i;
    event.category = Category::text;
    event.kernel_stamped = stamped;
    event.read.ns = 1'000'000'000'000;
  }
  const Query& step() {
    if (left-- == 0) {
      left = burst - 1;
      next = (next + 1) % queries.size();
      const std::uint64_t chance = rng.next();
      event.read.ns += 500 + static_cast<std::int64_t>(chance % 4'096);
      event.arrival = event.read;
      if (event.kernel_stamped) {
        event.arrival = event.read - Duration{2'000 + static_cast<std::int64_t>(chance >> 48)};
      }
    }
    event.shares_read = left > 0;
    static constexpr std::string_view kWords[] = {" the", " token",  ",", " of",  " measure", "ing",
                                                  " a",   " stream", ".", " and", " it",      " is",
                                                  "\n",   " server", "s", " 42"};
    word = kWords[rng.next() >> 60];
    event.bytes = static_cast<std::uint32_t>(word.size());
    return queries[next];
  }
};

void log_stream_event(benchmark::State& state) {
  const TempFolder folder;
  EventLogOptions options{};
  options.texts = state.range(2) != 0 ? Texts::all : Texts::none;
  auto writer = EventLogWriter::create(folder.path() / "events-0.alog", bench_run(), options);
  Load load(static_cast<std::size_t>(state.range(0)), static_cast<int>(state.range(1)),
            state.range(3) != 0);
  for (auto _ : state) {
    const Query& query = load.step();
    (*writer)->on_stream_event(query, load.event, load.word);
  }
  (void)(*writer)->close({RunState::complete, ""});
  const EventLogHealth health = (*writer)->health();
  const auto events = static_cast<double>(state.iterations());
  const auto kept = events - static_cast<double>(health.lost_records);
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes/event"] = static_cast<double>(health.bytes_written) / kept;
  state.counters["lost%"] = 100.0 * static_cast<double>(health.lost_records) / events;
}
BENCHMARK(log_stream_event)
    ->ArgNames({"streams", "burst", "texts", "stamped"})
    ->Args({64, 1, 1, 1})
    ->Args({1024, 1, 1, 1})
    ->Args({1024, 1, 0, 1})
    ->Args({1024, 1, 0, 0})
    ->Args({64, 16, 1, 1})
    ->Args({10000, 1, 1, 1});

void log_plain_reply(benchmark::State& state) {
  const TempFolder folder;
  auto writer = EventLogWriter::create(folder.path() / "events-0.alog", bench_run());
  Event event{};
  event.http_status = 200;
  event.received_bytes = 310;
  std::int64_t now = 1'000'000'000'000;
  for (auto _ : state) {
    now += 4'000;
    ++event.query.index;
    event.due = event.sent = Instant{now};
    event.first_byte = event.done = Instant{now + 60'000};
    (*writer)->on_sent(event.query, event.due, event.sent);
    (*writer)->on_done(event, "");
  }
  (void)(*writer)->close({RunState::complete, ""});
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes/query"] = static_cast<double>((*writer)->health().bytes_written) /
                                  static_cast<double>(state.iterations());
}
BENCHMARK(log_plain_reply);

class Count final : public QuietSink {
 public:
  void on_phase(const PhaseMark&) override { ++calls; }
  void on_sent(const Query&, Instant, Instant) override { ++calls; }
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override { ++calls; }
  void on_done(const Event&, std::string_view) override { ++calls; }
  std::uint64_t calls = 0;
};

void replay(benchmark::State& state) {
  const TempFolder folder;
  const auto path = folder.path() / "events-0.alog";
  constexpr std::uint64_t kEvents = 500'000;
  EventLogOptions options{};
  options.lossless = true;
  options.zstd_level = static_cast<int>(state.range(0));
  options.texts = state.range(1) != 0 ? Texts::all : Texts::none;
  auto writer = EventLogWriter::create(path, bench_run(), options);
  Load load(1024, 1, true);
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    const Query& query = load.step();
    (*writer)->on_stream_event(query, load.event, load.word);
  }
  (void)(*writer)->close({RunState::complete, ""});
  for (auto _ : state) {
    Count count;
    const auto end = replay_event_log(path, count);
    if (!end || !end->whole() || count.calls != kEvents) state.SkipWithError("not what was told");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
  state.counters["bytes/event"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(kEvents);
}
BENCHMARK(replay)
    ->ArgNames({"zstd", "texts"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::record
