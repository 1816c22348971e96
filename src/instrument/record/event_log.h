// The event log: all events of a run, written to disk during the run. Append-only and checksummed:
// after SIGKILL or a full disk it has everything up to the last hand-over, and a reader reports
// where it ends and why. One file a shard, `events-N.alog`; docs/formats/event_log.md has the
// grammar and its cost.
//
// EventLogWriter is an EventSink. Its calls belong to the measuring thread, which only fills blocks
// made before the run: no allocation, no lock, no system call except a wake-up now and then. A
// thread of its own writes full blocks. A block that is not full is handed over at the first call
// after its first record is older than `hand_over`; a loop ticks every 100 ms, so a crash loses at
// most the last 250 ms.
//
// If the disk cannot keep up, blocks queue; when all are queued, the current block is discarded and
// counted, because measuring must not wait. If the disk fails, written blocks stay, the other
// records are counted as lost, and health() reports it at once. No loss is silent: a reader gets
// the number of lost records.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/event_sink.h"
#include "domain/run_info.h"
#include "record/block.h"
#include "record/clock_map.h"
#include "record/event_codec.h"

namespace assay::record {

struct EventLogOptions {
  Texts texts = Texts::all;
  bool details = true;          // why a query failed, in the words of the endpoint
  Duration hand_over = 150_ms;  // of the run's clock; a simulated run hands over full blocks only
  // Wait for the disk, never lose a block. A simulated run always does: its time stands still.
  bool lossless = false;
  int zstd_level = 0;  // 0: blocks are not compressed
  std::size_t block_bytes = std::size_t{256} << 10;
  std::size_t blocks = 64;  // made before the start: 16 MiB by default
};

struct EventLogHealth {
  bool failed = false;  // the disk refused; see error()
  std::uint64_t lost_records = 0;
  std::uint64_t blocks_handed_over = 0;
  std::uint64_t blocks_written = 0;
  std::uint64_t bytes_written = 0;
};

class EventLogWriter final : public EventSink {
 public:
  // Refuses to overwrite an existing file.
  static Result<std::unique_ptr<EventLogWriter>> create(const std::filesystem::path& path,
                                                        const RunInfo& info,
                                                        EventLogOptions options = {});
  // As create(), on a descriptor that the caller opened for writing (a pipe to another program,
  // say); the log owns it from now on. `name` is for messages.
  static Result<std::unique_ptr<EventLogWriter>> create_on(int descriptor, std::string_view name,
                                                           const RunInfo& info,
                                                           EventLogOptions options = {});
  // Without close(): hands over the current block and writes no end, as after a crash.
  ~EventLogWriter() override;
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;
  void on_tick(Instant now) override;

  // Hands over the current block. Call from the measuring thread.
  void flush();
  // As flush(), and waits until the disk has taken or refused all of it: health() is then final.
  // Call from the measuring thread; only close() may follow.
  void settle();
  // After the last event: hands over, writes the end, syncs. Fails if the end is not in the file;
  // health() counts other losses. A disk that was full before may take the end now. Call from the
  // measuring thread; no call may follow.
  Result<void> close(const RunEnd& end);

  // Any thread.
  EventLogHealth health() const;
  // The disk's first error; "" without one. Any thread.
  std::string error() const;

 private:
  struct Block {
    BlockHeader header{};
    char* bytes = nullptr;  // header and payload
    std::size_t used = 0;   // of the payload
  };

  // Block numbers, from one thread to one other. It has room for every block, so push never fails.
  class Queue {
   public:
    explicit Queue(std::size_t blocks) : slots_(blocks + 1) {}
    void push(std::uint32_t block);
    bool pop(std::uint32_t& block);
    void wait() const;  // until pop() would succeed

   private:
    std::vector<std::uint32_t> slots_;
    std::atomic<std::uint32_t> head_{0};  // the next to pop
    std::atomic<std::uint32_t> tail_{0};  // where the next is pushed
  };
  static constexpr std::uint32_t kStop = 0xffffffff;

  class File;

  EventLogWriter(std::unique_ptr<File> file, const RunInfo& info, const EventLogOptions& options);

  // Before each record: ensures room for kRecordMax bytes, and the hand-over.
  char* begin(Instant now) {
    if (p_ > soft_end_ || now >= hand_over_at_) [[unlikely]] {
      hand_over();
    }
    if (p_ == start_) [[unlikely]] {
      open_block(now);
    }
    return p_;
  }
  void end(char* p) {
    p_ = p;
    ++records_;
  }
  void open_block(Instant now);
  void hand_over();
  void take_block(std::uint32_t number);
  void stop_thread();
  void write_blocks();
  void write_block(Block& block);

  const TextRule rule_;
  const EventLogOptions options_;

  // For the measuring thread only.
  char* p_ = nullptr;
  char* start_ = nullptr;
  char* soft_end_ = nullptr;
  Instant hand_over_at_ = Instant::max();
  std::uint64_t records_ = 0;  // in this block
  DeltaState state_{};
  std::uint32_t current_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t lost_before_ = 0;  // records of discarded blocks
  bool closed_ = false;

  // For the writing thread only.
  std::unique_ptr<File> file_;
  std::unique_ptr<Packer> packer_;
  std::vector<char> packed_{};

  // Shared.
  std::vector<char> memory_;
  std::vector<Block> blocks_;
  Queue free_;
  Queue full_;
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> handed_over_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::thread thread_;
};

// How a log ended, and how much of it could be read.
struct LogEnd {
  RunEnd end{};  // crashed if the log has no end record
  // Why reading stopped before the file's end, with the offset; "" when it did not.
  std::string trouble{};
  std::uint64_t bytes_read = 0;  // up to the last valid block
  std::uint64_t bytes = 0;       // of the file
  std::uint64_t blocks = 0;
  std::uint64_t records = 0;
  std::uint64_t lost_records = 0;  // the writer's own count
  std::uint64_t unfinished = 0;    // queries that were sent and have no end in the log
  Instant last = Instant::none();  // of the last record
  bool whole() const {
    return end.state != RunState::crashed && trouble.empty() && lost_records == 0;
  }
};

// Reads one log from its start, record by record, in bounded memory. One thread.
class EventLogReader {
 public:
  // Fails if the file is missing, or if its first block does not describe a run.
  static Result<EventLogReader> open(const std::filesystem::path& path);
  EventLogReader(EventLogReader&&) noexcept;
  EventLogReader& operator=(EventLogReader&&) noexcept;
  ~EventLogReader();

  const RunInfo& info() const;
  // The next record; nullptr at the end. Valid until the next call.
  const Record* next();
  // Call after next() has returned nullptr.
  const LogEnd& end() const;

 private:
  struct State;
  explicit EventLogReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

Result<RunInfo> read_run_info(const std::filesystem::path& log);
// Passes the whole log to `sink`.
Result<LogEnd> replay_event_log(const std::filesystem::path& path, EventSink& sink);

// The logs of a run folder, by shard. Fails where there is none.
Result<std::vector<std::filesystem::path>> find_event_logs(const std::filesystem::path& folder);

struct RunReplay {
  RunInfo info{};
  LogEnd end{};  // of all shards together
  std::vector<LogEnd> shards{};
  std::vector<RankClock> ranks{};  // of a run of several hosts
};
// Passes all shards of a run folder to `sink`, in the order of their instants. A phase starts with
// the first shard's start; its other steps come with the last shard's.
//
// In a merged run of several hosts (clocks.json beside the logs) all instants are in the time of
// rank 0, and what a rank that died had in flight ends as cancelled. `only`: that rank's records.
Result<RunReplay> replay_run(const std::filesystem::path& folder, EventSink& sink,
                             std::optional<std::uint32_t> only = {});

}  // namespace assay::record
