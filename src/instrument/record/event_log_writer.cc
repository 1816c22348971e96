#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "record/event_log.h"
#include "record/run_info_json.h"

namespace assay::record {
namespace {

std::vector<char> json_block(BlockType type, std::uint64_t sequence, std::uint64_t lost,
                             const Json& json) {
  const std::string text = json.dump();
  std::vector<char> block(kBlockHeaderBytes + text.size());
  std::memcpy(block.data() + kBlockHeaderBytes, text.data(), text.size());
  BlockHeader header{};
  header.type = type;
  header.stored_bytes = header.payload_bytes = static_cast<std::uint32_t>(text.size());
  header.sequence = sequence;
  header.lost_records = lost;
  seal_block(block.data(), header);
  return block;
}

}  // namespace

// The file. It always ends with a whole block, if the disk allows.
class EventLogWriter::File {
 public:
  File(int fd, std::string_view name) : fd_(fd), name_(name) {}
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Writes all of it or nothing; after a failure it writes nothing more.
  bool append(std::string_view bytes) {
    if (!error_.empty()) return false;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const ssize_t n = ::write(fd_, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fail("write");
        return false;
      }
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    bytes_ += bytes.size();
    return true;
  }

  bool sync() {
    // A pipe has nothing to sync.
    if (::fdatasync(fd_) == 0 || errno == EINVAL || errno == ENOTSUP) return true;
    fail("sync");
    return false;
  }

  // After a failure: the bytes may fit in space that was freed since.
  bool append_after_all(std::string_view bytes) {
    error_.clear();
    return append(bytes);
  }

  // "" without a failure.
  const std::string& error() const { return error_; }
  Code code() const { return code_; }
  // Does not change after later failures.
  const std::string& first_error() const { return first_error_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void fail(std::string_view what) {
    const Error error = errno_error(format("event log {}: {}", name_, what));
    error_ = error.message;
    code_ = error.code;
    if (first_error_.empty()) first_error_ = error.message;
    // A part of a block is harmless, because a reader detects it; but a whole end is better.
    if (::ftruncate(fd_, static_cast<off_t>(bytes_)) != 0)
      error_ += " (and it ends in a torn block)";
    ::lseek(fd_, static_cast<off_t>(bytes_), SEEK_SET);  // a pipe has no position to return to
  }

  int fd_;
  std::string name_;
  std::uint64_t bytes_ = 0;
  std::string error_{};
  std::string first_error_{};
  Code code_ = Code::io;
};

void EventLogWriter::Queue::push(std::uint32_t block) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  slots_[tail % slots_.size()] = block;
  tail_.store(tail + 1, std::memory_order_release);
  tail_.notify_one();
}

bool EventLogWriter::Queue::pop(std::uint32_t& block) {
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  if (head == tail_.load(std::memory_order_acquire)) return false;
  block = slots_[head % slots_.size()];
  head_.store(head + 1, std::memory_order_release);
  return true;
}

void EventLogWriter::Queue::wait() const {
  tail_.wait(head_.load(std::memory_order_relaxed), std::memory_order_acquire);
}

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::create(const std::filesystem::path& path,
                                                               const RunInfo& info,
                                                               EventLogOptions options) {
  if (path.has_parent_path()) TRY(make_folders(path.parent_path()));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error(format("event log {}", path.string()));
  return create_on(fd, path.string(), info, options);
}

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::create_on(int descriptor,
                                                                  std::string_view name,
                                                                  const RunInfo& info,
                                                                  EventLogOptions options) {
  auto file = std::make_unique<File>(descriptor, name);
  if (info.simulated) {
    options.lossless = true;
    options.hand_over = Duration::max();
  }
  CHECK(options.blocks >= 2 && options.block_bytes > 2 * kRecordMax &&
        options.block_bytes <= kPayloadMax);
  Json json = to_json(info);
  json.set("grammar", kEventLogGrammar);
  json.set("texts", to_string(options.texts));
  const std::vector<char> first = json_block(BlockType::run_info, 0, 0, json);
  if (!file->append({first.data(), first.size()})) return Error{file->code(), file->error()};
  return std::unique_ptr<EventLogWriter>(new EventLogWriter(std::move(file), info, options));
}

EventLogWriter::EventLogWriter(std::unique_ptr<File> file, const RunInfo& info,
                               const EventLogOptions& options)
    : rule_(options.texts, info.phases),
      options_(options),
      file_(std::move(file)),
      memory_((kBlockHeaderBytes + options.block_bytes) * options.blocks),
      blocks_(options.blocks),
      free_(options.blocks),
      full_(options.blocks) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].bytes = memory_.data() + i * (kBlockHeaderBytes + options.block_bytes);
    if (i > 0) free_.push(static_cast<std::uint32_t>(i));
  }
  if (options.zstd_level != 0) {
    packer_ = std::make_unique<Packer>(options.zstd_level);
    packed_.resize(kBlockHeaderBytes + packed_bound(options.block_bytes));
  }
  bytes_ = file_->bytes();
  take_block(0);
  thread_ = std::thread([this] { write_blocks(); });
}

EventLogWriter::~EventLogWriter() {
  if (!closed_) {
    flush();
    stop_thread();
  }
}

void EventLogWriter::take_block(std::uint32_t number) {
  current_ = number;
  start_ = p_ = blocks_[number].bytes + kBlockHeaderBytes;
  soft_end_ = start_ + options_.block_bytes - kRecordMax;
  hand_over_at_ = Instant::max();
  records_ = 0;
}

void EventLogWriter::open_block(Instant now) {
  blocks_[current_].header.base = now;
  state_ = DeltaState::at(now);
  hand_over_at_ = now + options_.hand_over;
}

// Cold: once a block. Gives the current block away only if another one is free.
void EventLogWriter::hand_over() {
  if (p_ == start_) return;
  const std::uint64_t records = records_;
  BlockHeader& header = blocks_[current_].header;
  header.sequence = ++sequence_;
  header.records = records;
  header.lost_records = lost_before_;
  blocks_[current_].used = static_cast<std::size_t>(p_ - start_);
  std::uint32_t next = 0;
  bool got = free_.pop(next);
  while (!got && options_.lossless) {
    free_.wait();
    got = free_.pop(next);
  }
  if (!got) {
    lost_before_ += records;
    lost_.fetch_add(records, std::memory_order_relaxed);
    take_block(current_);
    return;
  }
  handed_over_.fetch_add(1, std::memory_order_relaxed);
  full_.push(current_);
  take_block(next);
}

void EventLogWriter::on_phase(const PhaseMark& mark) {
  end(put_phase_mark(begin(mark.at), state_, mark));
}

void EventLogWriter::on_sent(const Query& query, Instant due, Instant sent) {
  end(put_sent(begin(sent), state_, query, due, sent));
}

void EventLogWriter::on_stream_event(const Query& query, const StreamEvent& event,
                                     std::string_view text) {
  const bool kept = rule_.kept(query.phase);
  if (!kept) text = {};
  if (text.size() <= kInlineTextMax) [[likely]] {
    char* const p = begin(event.read);
    end(put_stream_event(p, state_, query, event, text, kept));
    return;
  }
  char* p = begin(event.read);
  end(put_long_event(p, state_, query, event, text.size()));
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kInlineTextMax))) {
    p = begin(event.read);
    end(put_text_piece(p, text.substr(0, kInlineTextMax)));
  }
}

void EventLogWriter::on_done(const Event& event, std::string_view detail) {
  const Instant now =
      event.done.known() ? event.done + event.read_delay_done : Instant{state_.time};
  char* const p = begin(now);
  end(put_done(p, state_, event, options_.details ? detail : std::string_view()));
}

void EventLogWriter::on_tick(Instant now) {
  if (now >= hand_over_at_) hand_over();
}

void EventLogWriter::flush() { hand_over(); }

void EventLogWriter::settle() {
  flush();
  stop_thread();
}

void EventLogWriter::stop_thread() {
  if (!thread_.joinable()) return;
  full_.push(kStop);
  thread_.join();
}

void EventLogWriter::write_blocks() {
  for (;;) {
    std::uint32_t number = 0;
    while (!full_.pop(number)) full_.wait();
    if (number == kStop) return;
    write_block(blocks_[number]);
    free_.push(number);
  }
}

void EventLogWriter::write_block(Block& block) {
  BlockHeader& header = block.header;
  header.payload_bytes = header.stored_bytes = static_cast<std::uint32_t>(block.used);
  header.compressed = false;
  char* bytes = block.bytes;
  if (packer_ != nullptr) {
    const std::size_t packed = packer_->pack({block.bytes + kBlockHeaderBytes, block.used},
                                             packed_.data() + kBlockHeaderBytes);
    if (packed > 0) {
      bytes = packed_.data();
      header.compressed = true;
      header.stored_bytes = static_cast<std::uint32_t>(packed);
    }
  }
  seal_block(bytes, header);
  if (!file_->append({bytes, kBlockHeaderBytes + header.stored_bytes})) {
    lost_.fetch_add(header.records, std::memory_order_relaxed);
    failed_.store(true, std::memory_order_release);
    return;
  }
  bytes_.store(file_->bytes(), std::memory_order_relaxed);
  written_.fetch_add(1, std::memory_order_release);
}

Result<void> EventLogWriter::close(const RunEnd& end) {
  CHECK(!closed_);
  closed_ = true;
  flush();
  stop_thread();
  const std::uint64_t lost = lost_.load(std::memory_order_relaxed);
  Json json = to_json(end);
  json.set("lost_records", lost);
  const std::vector<char> last = json_block(BlockType::end, sequence_ + 1, lost, json);
  if (!file_->append_after_all({last.data(), last.size()}) || !file_->sync()) {
    failed_.store(true, std::memory_order_release);
    return Error{file_->code(), file_->error()};
  }
  bytes_.store(file_->bytes(), std::memory_order_relaxed);
  return {};
}

std::string EventLogWriter::error() const {
  return failed_.load(std::memory_order_acquire) ? file_->first_error() : std::string();
}

EventLogHealth EventLogWriter::health() const {
  EventLogHealth health{};
  health.failed = failed_.load(std::memory_order_acquire);
  health.blocks_written = written_.load(std::memory_order_acquire);
  health.lost_records = lost_.load(std::memory_order_relaxed);
  health.blocks_handed_over = handed_over_.load(std::memory_order_relaxed);
  health.bytes_written = bytes_.load(std::memory_order_relaxed);
  return health;
}

}  // namespace assay::record
