// LogFiles: the four files of a LoadGen test, mlperf_log_summary.txt, _detail.txt, _accuracy.json
// and _trace.json, in the stock library's format with its oddities: doubles of six digits, strings
// that are not escaped, and a detail log whose lines are JSON only if no value has a quote.
// docs/formats/loadgen_logs.md has the grammar.
//
// A thread of its own formats and writes the trace and the accuracy log, because both have lines
// for each sample. At most kBacklogMax records wait for it; then trace() and accuracy() wait.
//
// Threads: any, for every function.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "loadgen/detail_log.h"
#include "sut/desk.h"
#include "sut/mlperf/test_settings.h"

namespace assay::sut {

using loadgen::Severity;

// A span of time, of one thread; or a sample or its first token, from `begin` to `end`.
struct TraceRecord {
  enum class Kind : std::uint8_t { span, sample, server_sample, first_token, server_first_token };
  Kind kind = Kind::span;
  const char* name = "";    // span
  std::int64_t count = -1;  // span: an argument, if it has one
  std::uint64_t thread = 0;
  Instant begin{};
  Instant end{};
  std::uint64_t sample = 0;  // its place in the test
  std::uint64_t query = 0;
  std::uint64_t index = 0;     // its row
  std::int64_t issued_ns = 0;  // since `begin`
};

struct AccuracyRecord {
  std::uint64_t sample = 0;
  std::uint64_t index = 0;
  std::int64_t tokens = 0;
  std::unique_ptr<Answer> answer{};  // never null
};

// Which columns the accuracy log has.
enum class AccuracyForm : std::uint8_t { plain, tokens, first_tokens };

class LogFiles {
 public:
  // Opens all four. Fails with the name of one that cannot be opened ("summary file").
  static Result<std::unique_ptr<LogFiles>> open(const mlperf::LogSettings& settings,
                                                const std::string& date_time, const Clock& clock,
                                                AccuracyForm form);
  // Writes what waits and the ends of the files, if close() has not.
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  bool traced() const { return traced_; }
  // `value` as loadgen::detail_value() makes it.
  void detail(std::string_view key, std::string_view value, Severity severity = Severity::plain)
      MUST_NOT_HOLD(detail_mutex_);
  loadgen::SayDetail say() {
    return [this](std::string_view key, const std::string& value) { detail(key, value); };
  }
  template <typename T>
  void line(std::string_view key, const T& value) {
    detail(key, loadgen::detail_value(value));
  }
  void error(std::string_view key, std::string_view text) {
    detail(key, loadgen::detail_value(text), Severity::error);
  }
  void summary(std::string_view text) MUST_NOT_HOLD(detail_mutex_);
  std::uint64_t warnings() const MUST_NOT_HOLD(detail_mutex_);
  std::uint64_t errors() const MUST_NOT_HOLD(detail_mutex_);

  // The same from any thread, as often as wanted: the files are whole on the disk afterwards.
  // Records that come later are not written.
  void close() MUST_NOT_HOLD(end_mutex_);

  // Both take the records and leave an empty vector.
  void trace(std::vector<TraceRecord>& records) MUST_NOT_HOLD(mutex_);
  void accuracy(AccuracyRecord record) MUST_NOT_HOLD(mutex_);

 private:
  static constexpr std::size_t kBacklogMax = std::size_t{1} << 20;
  static constexpr std::size_t kWrittenMax = 64;

  LogFiles(const mlperf::LogSettings& settings, const Clock& clock, AccuracyForm form);
  void write_records() MUST_NOT_HOLD(mutex_);
  void write(const TraceRecord& record, std::string& out) const;
  void write(const AccuracyRecord& record, std::string& out);

  const Clock& clock_;
  const Instant origin_;
  const int pid_;
  const AccuracyForm form_;
  const bool traced_;
  const bool copy_detail_;
  const bool copy_summary_;

  mutable Mutex detail_mutex_{};
  File detail_ GUARDED_BY(detail_mutex_){};
  File summary_ GUARDED_BY(detail_mutex_){};
  std::uint64_t warnings_ GUARDED_BY(detail_mutex_) = 0;
  std::uint64_t errors_ GUARDED_BY(detail_mutex_) = 0;

  // The writing thread's.
  File accuracy_{};
  File trace_{};
  bool has_accuracy_ = false;

  Mutex end_mutex_{};
  bool closed_ GUARDED_BY(end_mutex_) = false;
  Mutex mutex_{};
  Condition changed_{};
  std::deque<std::vector<TraceRecord>> traces_ GUARDED_BY(mutex_){};
  std::vector<std::vector<TraceRecord>> written_ GUARDED_BY(mutex_){};  // empty, to be used again
  std::vector<AccuracyRecord> answers_ GUARDED_BY(mutex_){};
  std::size_t waiting_ GUARDED_BY(mutex_) = 0;  // records
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_{};
};

}  // namespace assay::sut
