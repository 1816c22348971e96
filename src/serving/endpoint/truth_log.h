// The truth log: the instant at which the endpoint handed each event of each reply to the kernel,
// and what it did with each request. Instruments are checked against it. Format, with a worked
// example: docs/formats/truth_log.md.
//
// The instant is CLOCK_MONOTONIC, read directly before the write() that hands over the event's last
// byte; after a partial write, before the one that takes the rest. So an arrival on the same host
// is never earlier than its truth. With holds, the log also has the writes that took long, so that
// the truth of their events has an end too.
//
// Each serving thread fills its own buffer (TruthRecorder) and never waits; one thread writes the
// full buffers (TruthLog). Blocks that the disk can't take in time are dropped and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/event.h"
#include "endpoint/ask.h"
#include "endpoint/fault.h"

namespace assay::endpoint {

enum class TruthOutcome : std::uint8_t {
  served,    // the whole reply was handed over
  faulted,   // a fault or a quirk ended it; see the request's fault
  gone,      // the client left before the end
  rejected,  // 4xx, refused by us
};

struct TruthRequest {
  std::uint32_t number = 0;  // counts from 0 in each thread
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;  // as planned
  Route route = Route::chat;
  bool streamed = false;
  Fault fault{};
  Instant arrived{};  // when the request's last byte was read
  std::string_view id{};
};

struct TruthEvent {
  std::uint32_t number = 0;
  std::uint16_t tokens = 0;
  Category category = Category::other;
  Instant at{};
};

struct TruthEnd {
  std::uint32_t number = 0;
  TruthOutcome outcome = TruthOutcome::served;
  std::uint16_t http_status = 200;
  std::uint32_t tokens = 0;  // handed over
  std::uint32_t events = 0;
  Instant at{};
};

// A write that held the serving thread up: what it handed over left between the two instants.
struct TruthHold {
  std::uint16_t thread = 0;
  Instant from{};  // `at` of the events that it handed over
  Instant until{};
};
constexpr Duration kTruthHoldMin{100'000};  // a shorter write is no hold

enum class TruthHolds : std::uint8_t { left_out, recorded };

class TruthLog {
 public:
  static Result<std::unique_ptr<TruthLog>> create(const std::filesystem::path& path,
                                                  TruthHolds holds = TruthHolds::left_out);
  ~TruthLog() { close(); }
  // Writes the rest; append nothing after it.
  void close();

  // Takes the payload of one block. Never waits for the disk.
  void append(std::uint16_t thread, std::string payload);
  std::uint64_t dropped_blocks() const { return dropped_.load(std::memory_order_relaxed); }
  bool has_holds() const { return holds_ == TruthHolds::recorded; }

 private:
  struct Block {
    std::uint16_t thread = 0;
    std::string payload{};
  };

  TruthLog(int fd, TruthHolds holds);
  void write_blocks();
  bool write_block(const Block& block) const;

  int fd_;
  TruthHolds holds_;
  Mutex mutex_{};
  Condition wake_{};
  std::deque<Block> blocks_ GUARDED_BY(mutex_){};
  bool closing_ GUARDED_BY(mutex_) = false;
  std::atomic<std::uint64_t> dropped_{0};
  std::thread writer_{};
};

// One thread's access to a log; without a log, calls do nothing.
class TruthRecorder {
 public:
  TruthRecorder(TruthLog* log, std::uint16_t thread) : log_(log), thread_(thread) {
    if (log_ != nullptr) buffer_.reserve(kBufferBytes + kRecordBytesMax);
  }
  TruthRecorder(const TruthRecorder&) = delete;
  TruthRecorder& operator=(const TruthRecorder&) = delete;
  ~TruthRecorder() { flush(); }

  bool on() const { return log_ != nullptr; }
  bool has_holds() const { return on() && log_->has_holds(); }
  void request(const TruthRequest& record);
  void event(const TruthEvent& record);
  void end(const TruthEnd& record);
  // A write began and returned; recorded where the log has holds and it was one. Comes before the
  // events that it handed over.
  void wrote(Instant from, Instant until);
  void flush();
  // Whether records wait that the log does not have yet.
  bool pending() const { return !buffer_.empty(); }

 private:
  static constexpr std::size_t kBufferBytes = 256 << 10;
  static constexpr std::size_t kRecordBytesMax = 1024;

  template <typename T>
  void put(const T& bytes) {
    buffer_.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    if (buffer_.size() >= kBufferBytes) flush();
  }

  TruthLog* log_;
  std::uint16_t thread_;
  std::string buffer_{};
};

// ---- reading ----

struct TruthReply {
  std::uint16_t thread = 0;
  TruthRequest request{};  // without its id
  std::string id{};
  std::vector<TruthEvent> events{};
  bool ended = false;
  TruthEnd end{};
};

struct TruthRecord {
  Instant opened{};
  WallTime opened_wall{};
  std::vector<TruthReply> replies{};           // in order of arrival in each thread
  std::map<std::string, std::size_t> by_id{};  // the last one, if an id came several times
  std::vector<TruthHold> holds{};              // in their order in each thread
  bool cut = false;                            // the file ends within a block: the rest is lost
};
Result<TruthRecord> read_truth_log(const std::filesystem::path& path);

}  // namespace assay::endpoint
