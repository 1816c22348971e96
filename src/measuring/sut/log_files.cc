#include "sut/log_files.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace assay::sut {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 16;

void put(std::FILE* file, std::string_view text) {
  // A log that the disk refuses is cut there; the test goes on, as in the stock library.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), file));
}

// The lines of one trace record, or one of accuracy without its bytes: names of ours, of 32 bytes
// at most, and a dozen numbers.
class Line {
 public:
  void add(std::string_view text) {
    CHECK(text.size() <= room());
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void add(std::int64_t number) { at_ = std::to_chars(at_, end(), number).ptr; }
  void add(std::uint64_t number) { at_ = std::to_chars(at_, end(), number).ptr; }
  // In microseconds, as "{:.3f}" has them.
  void add(Duration time) {
    if (time.ns < 0) add("-");
    const std::uint64_t ns =
        time.ns < 0 ? -static_cast<std::uint64_t>(time.ns) : static_cast<std::uint64_t>(time.ns);
    add(ns / 1000);
    const auto digit = [ns](std::uint64_t of) { return static_cast<char>('0' + ns / of % 10); };
    const std::array<char, 4> fraction{'.', digit(100), digit(10), digit(1)};
    add(std::string_view(fraction.data(), fraction.size()));
  }
  std::string_view text() const { return {text_.data(), at_}; }

 private:
  char* end() { return text_.data() + text_.size(); }
  std::size_t room() { return static_cast<std::size_t>(end() - at_); }

  std::array<char, 1024> text_;
  char* at_ = text_.data();
};

void append_hex(std::string& out, const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

// A trace has five lines for each sample; by format() they cost more than the rest of a null test.
template <typename... Parts>
void append_all(std::string& out, const Parts&... parts) {
  Line line;
  (line.add(parts), ...);
  out += line.text();
}

}  // namespace

LogFiles::LogFiles(const mlperf::LogSettings& settings, const Clock& clock, AccuracyForm form)
    : clock_(clock),
      origin_(clock.now()),
      pid_(::getpid()),
      form_(form),
      traced_(settings.enable_trace),
      copy_detail_(settings.log_output.copy_detail_to_stdout),
      copy_summary_(settings.log_output.copy_summary_to_stdout) {}

Result<std::unique_ptr<LogFiles>> LogFiles::open(const mlperf::LogSettings& settings,
                                                 const std::string& date_time, const Clock& clock,
                                                 AccuracyForm form) {
  const mlperf::LogOutputSettings& place = settings.log_output;
  std::string prefix = place.outdir + "/" + place.prefix;
  if (place.prefix_with_datetime) prefix += date_time + "_";
  std::unique_ptr<LogFiles> out(new LogFiles(settings, clock, form));
  const auto opened = [&](std::string_view name, std::string_view end) {
    return File(
        std::fopen((prefix + std::string(name) + place.suffix + std::string(end)).c_str(), "w"));
  };
  {
    Lock lock(out->detail_mutex_);
    out->summary_ = opened("summary", ".txt");
    out->detail_ = opened("detail", ".txt");
    if (!out->summary_) return errno_error("summary file");
    if (!out->detail_) return errno_error("detailed log file");
  }
  out->accuracy_ = opened("accuracy", ".json");
  out->trace_ = opened("trace", ".json");
  if (!out->accuracy_) return errno_error("accuracy log file");
  if (!out->trace_) return errno_error("trace file");
  put(out->accuracy_.get(), "[");
  if (out->traced_) put(out->trace_.get(), "{\"traceEvents\":[\n");
  out->thread_ = std::thread([log = out.get()] { log->write_records(); });
  return out;
}

LogFiles::~LogFiles() { close(); }

void LogFiles::close() {
  Lock end(end_mutex_);
  if (closed_ || !thread_.joinable()) return;  // it never opened
  closed_ = true;
  {
    Lock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
  put(accuracy_.get(), "\n]\n");
  if (traced_) {
    put(trace_.get(), format("{{\"name\":\"LastTrace\"}}\n],\n\"displayTimeUnit\":\"ns\",\n"
                             "\"otherData\":{{\n\"ts\":{:.3f},\n"
                             "\"version\":\"MLPerf LoadGen v1.0\"\n}}\n}}\n",
                             (origin_ - Instant{}).us()));
  }
  std::fflush(accuracy_.get());
  std::fflush(trace_.get());
  Lock lock(detail_mutex_);
  std::fflush(detail_.get());
  std::fflush(summary_.get());
}

void LogFiles::detail(std::string_view key, std::string_view value, Severity severity) {
  Lock lock(detail_mutex_);
  const std::int64_t since = (clock_.now() - origin_).ns;
  if (severity == Severity::error) ++errors_;
  if (severity == Severity::warning) ++warnings_;
  const std::string text =
      loadgen::detail_line({key, value, since, severity, pid_, this_thread_number()});
  put(detail_.get(), text);
  if (copy_detail_) put(stdout, text);
  if (severity == Severity::error) std::fflush(detail_.get());
}

void LogFiles::summary(std::string_view text) {
  Lock lock(detail_mutex_);
  put(summary_.get(), text);
  if (!copy_summary_) return;
  put(stdout, text);
  std::fflush(stdout);
}

std::uint64_t LogFiles::warnings() const {
  Lock lock(detail_mutex_);
  return warnings_;
}

std::uint64_t LogFiles::errors() const {
  Lock lock(detail_mutex_);
  return errors_;
}

void LogFiles::trace(std::vector<TraceRecord>& records) {
  if (!traced_ || records.empty()) return records.clear();
  const std::size_t reserved = records.capacity();
  std::vector<TraceRecord> next;
  Lock lock(mutex_);
  while (waiting_ > kBacklogMax) changed_.wait(lock);
  if (waiting_ == 0) changed_.notify_all();  // the writer waits for the first alone
  waiting_ += records.size();
  if (!written_.empty()) {
    next = std::move(written_.back());
    written_.pop_back();
  }
  traces_.push_back(std::exchange(records, std::move(next)));
  lock.unlock();
  records.reserve(reserved);
}

void LogFiles::accuracy(AccuracyRecord record) {
  Lock lock(mutex_);
  while (waiting_ > kBacklogMax) changed_.wait(lock);
  if (waiting_++ == 0) changed_.notify_all();
  answers_.push_back(std::move(record));
}

void LogFiles::write_records() {
  std::string text;
  for (;;) {
    std::deque<std::vector<TraceRecord>> traces;
    std::vector<AccuracyRecord> answers;
    {
      Lock lock(mutex_);
      while (waiting_ == 0 && !closing_) changed_.wait(lock);
      if (waiting_ == 0) return;
      traces.swap(traces_);
      answers.swap(answers_);
      waiting_ = 0;
      changed_.notify_all();
    }
    for (const auto& records : traces) {
      for (const TraceRecord& record : records) {
        write(record, text);
        if (text.size() < kWriteBytes) continue;
        put(trace_.get(), text);
        text.clear();
      }
    }
    put(trace_.get(), std::exchange(text, {}));
    if (!traces.empty()) {
      Lock lock(mutex_);
      for (auto& records : traces) {
        if (written_.size() == kWrittenMax) break;
        records.clear();
        written_.push_back(std::move(records));
      }
    }
    for (const AccuracyRecord& answer : answers) {
      write(answer, text);
      if (text.size() < kWriteBytes) continue;
      put(accuracy_.get(), text);
      text.clear();
    }
    put(accuracy_.get(), std::exchange(text, {}));
  }
}

void LogFiles::write(const TraceRecord& r, std::string& out) const {
  using Text = std::string_view;
  const Duration begin = r.begin - origin_;
  const std::int64_t done_ns = (r.end - r.begin).ns;
  const std::int64_t pid = pid_;
  const bool of_server =
      r.kind == TraceRecord::Kind::server_sample || r.kind == TraceRecord::Kind::server_first_token;
  const bool of_token =
      r.kind == TraceRecord::Kind::first_token || r.kind == TraceRecord::Kind::server_first_token;
  if (r.kind == TraceRecord::Kind::span) {
    append_all(out, Text(R"({"name":")"), Text(r.name), Text(R"(","ph":"X","pid":)"), pid,
               Text(R"(,"tid":)"), r.thread, Text(R"(,"ts":)"), begin, Text(R"(,"dur":)"),
               r.end - r.begin, Text(R"(,"args":{)"));
    if (r.count >= 0) append_all(out, Text(R"("count":)"), r.count);
    out += "}},\n";
    return;
  }
  if (of_server) {
    append_all(out, Text(R"({"name":")"), Text(of_token ? "Token_Latency" : "Latency"),
               Text(R"(","ph": "C","pid":)"), pid, Text(R"(,"ts":)"), begin,
               Text(R"(,"args":{ "issue_delay":)"), r.issued_ns, Text(R"(,"issue_to_done":)"),
               done_ns - r.issued_ns, Text("}},\n"));
    if (of_token) return;  // without a span of its own
  }
  const Text name = of_token ? "Token" : "Sample";
  append_all(out, Text(R"({"name":")"), name, Text(R"(","cat":"default","ph":"b","pid":)"), pid,
             Text(R"(,"id":)"), r.sample, Text(R"(,"ts":)"), begin,
             Text(R"(,"args":{"sample_seq":)"), r.sample, Text(R"(,"query_seq":)"), r.query,
             Text(R"(,"sample_idx":)"), r.index, Text(R"(,"issue_start_ns":)"), r.issued_ns,
             Text(R"(,"complete_ns":)"), done_ns, Text("}},\n"));
  append_all(out, Text(R"({"name":")"), name, Text(R"(","cat":"default","ph":"e", "pid":)"), pid,
             Text(R"(,"id":)"), r.sample, Text(R"(,"ts":)"), r.end - origin_, Text("},\n"));
}

void LogFiles::write(const AccuracyRecord& r, std::string& out) {
  using Text = std::string_view;
  out += has_accuracy_ ? ",\n{ " : "\n{ ";
  has_accuracy_ = true;
  append_all(out, Text(R"("seq_id" : )"), r.sample, Text(R"(, "qsl_idx" : )"), r.index,
             Text(R"(, "data" : ")"));
  append_hex(out, r.answer->data);
  if (form_ == AccuracyForm::first_tokens) {
    out += R"(", "token_data" : ")";
    append_hex(out, r.answer->token_data);
  }
  out += '"';
  if (form_ != AccuracyForm::plain) append_all(out, Text(R"(, "token_count" : )"), r.tokens);
  out += " }";
}

}  // namespace assay::sut
