#include "endpoint/truth_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::endpoint {
namespace {

// Records as on disk, little-endian, without padding. docs/formats/truth_log.md.
constexpr std::array<char, 8> kMagic = {'A', 'S', 'S', 'A', 'Y', 'T', 'R', 'U'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kVersionWithHolds = 2;
constexpr std::uint32_t kBlockMagic = 0x4b4c4254;  // "TBLK"
constexpr std::size_t kBlocksMax = 512;            // about 128 MB in flight; the rest is dropped
constexpr std::size_t kBlockBytesMax = 1 << 20;
constexpr std::size_t kIdBytesMax = 255;

struct FileHead {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::int64_t opened_ns = 0;
  std::int64_t opened_wall_ns = 0;
};

struct BlockHead {
  std::uint32_t magic = kBlockMagic;
  std::uint32_t payload_bytes = 0;
  std::uint16_t thread = 0;
  std::array<std::uint16_t, 3> reserved{};
  std::uint64_t checksum = 0;  // xxh3 of the payload
};

enum class Kind : std::uint8_t { request = 1, event = 2, end = 3, hold = 4 };

struct RequestRecord {
  Kind kind = Kind::request;
  std::uint8_t route = 0;
  std::uint8_t streamed = 0;
  std::uint8_t fault = 0;
  std::uint32_t number = 0;
  std::int64_t arrived_ns = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint16_t fault_status = 0;
  std::uint8_t id_bytes = 0;
  std::array<std::uint8_t, 5> reserved{};
};

struct EventRecord {
  Kind kind = Kind::event;
  std::uint8_t category = 0;
  std::uint16_t tokens = 0;
  std::uint32_t number = 0;
  std::int64_t at_ns = 0;
};

struct EndRecord {
  Kind kind = Kind::end;
  std::uint8_t outcome = 0;
  std::uint16_t http_status = 0;
  std::uint32_t number = 0;
  std::int64_t at_ns = 0;
  std::uint32_t tokens = 0;
  std::uint32_t events = 0;
};

struct HoldRecord {
  Kind kind = Kind::hold;
  std::array<std::uint8_t, 7> reserved{};
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
};

static_assert(sizeof(FileHead) == 32 && sizeof(BlockHead) == 24);
static_assert(sizeof(RequestRecord) == 32 && sizeof(EventRecord) == 16 && sizeof(EndRecord) == 24);
static_assert(sizeof(HoldRecord) == 24);
static_assert(std::is_trivially_copyable_v<RequestRecord>);

template <typename T>
std::string_view raw_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

template <typename T>
bool take(std::string_view& bytes, T& out) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&out, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

// The replies of each thread that have begun, by number.
using Numbers = std::map<std::pair<std::uint16_t, std::uint32_t>, std::size_t>;

bool read_request(std::string_view& payload, std::uint16_t thread, TruthRecord& out,
                  Numbers& numbers) {
  RequestRecord record;
  if (!take(payload, record) || payload.size() < record.id_bytes) return false;
  if (record.route >= kRoutes || record.fault >= kFaultKinds) return false;
  TruthReply& reply = out.replies.emplace_back();
  reply.thread = thread;
  reply.id = std::string(payload.substr(0, record.id_bytes));
  payload.remove_prefix(record.id_bytes);
  reply.request = {
      .number = record.number,
      .prompt_tokens = record.prompt_tokens,
      .output_tokens = record.output_tokens,
      .route = static_cast<Route>(record.route),
      .streamed = record.streamed != 0,
      .fault = {static_cast<FaultKind>(record.fault), record.fault_status},
      .arrived = Instant{record.arrived_ns},
  };
  numbers[{thread, record.number}] = out.replies.size() - 1;
  return true;
}

bool read_hold(std::string_view& payload, std::uint16_t thread, TruthRecord& out) {
  HoldRecord record;
  if (!take(payload, record) || record.until_ns < record.from_ns) return false;
  out.holds.push_back({thread, Instant{record.from_ns}, Instant{record.until_ns}});
  return true;
}

bool read_payload(std::string_view payload, std::uint16_t thread, TruthRecord& out,
                  Numbers& numbers) {
  while (!payload.empty()) {
    const auto kind = static_cast<Kind>(payload.front());
    if (kind == Kind::request) {
      if (!read_request(payload, thread, out, numbers)) return false;
      continue;
    }
    if (kind == Kind::hold) {
      if (!read_hold(payload, thread, out)) return false;
      continue;
    }
    EventRecord event;
    EndRecord end;
    if (kind == Kind::event ? !take(payload, event) : !take(payload, end)) return false;
    const std::uint32_t number = kind == Kind::event ? event.number : end.number;
    const auto found = numbers.find({thread, number});
    if (found == numbers.end()) continue;  // its beginning was in a dropped block
    TruthReply& reply = out.replies[found->second];
    if (kind == Kind::event) {
      if (event.category >= kCategories) return false;
      reply.events.push_back(
          {number, event.tokens, static_cast<Category>(event.category), Instant{event.at_ns}});
    } else if (kind == Kind::end && end.outcome <= static_cast<int>(TruthOutcome::rejected)) {
      reply.ended = true;
      reply.end = {number,          static_cast<TruthOutcome>(end.outcome),
                   end.http_status, end.tokens,
                   end.events,      Instant{end.at_ns}};
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<TruthLog>> TruthLog::create(const std::filesystem::path& path,
                                                   TruthHolds holds) {
  if (path.has_parent_path()) TRY(make_folders(path.parent_path()));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error(format("cannot create truth log '{}'", path.string()));
  const FileHead head{.version = holds == TruthHolds::recorded ? kVersionWithHolds : kVersion,
                      .opened_ns = OsClock().now().ns,
                      .opened_wall_ns = wall_now().ns};
  if (!write_all(fd, raw_bytes(head))) {
    const Error error = errno_error(format("cannot write truth log '{}'", path.string()));
    ::close(fd);
    return error;
  }
  return std::unique_ptr<TruthLog>(new TruthLog(fd, holds));
}

TruthLog::TruthLog(int fd, TruthHolds holds) : fd_(fd), holds_(holds) {
  writer_ = std::thread([this] { write_blocks(); });
}

void TruthLog::close() {
  if (!writer_.joinable()) return;
  {
    const Lock lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  writer_.join();
  ::close(fd_);
}

void TruthLog::append(std::uint16_t thread, std::string payload) {
  if (payload.empty()) return;
  {
    const Lock lock(mutex_);
    if (blocks_.size() >= kBlocksMax) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    blocks_.push_back({thread, std::move(payload)});
  }
  wake_.notify_one();
}

bool TruthLog::write_block(const Block& block) const {
  const BlockHead head{.payload_bytes = static_cast<std::uint32_t>(block.payload.size()),
                       .thread = block.thread,
                       .checksum = xxh3(block.payload)};
  return write_all(fd_, raw_bytes(head)) && write_all(fd_, block.payload);
}

void TruthLog::write_blocks() {
  bool broken = false;  // nothing after a partial block could be read
  Lock lock(mutex_);
  for (;;) {
    while (!closing_ && blocks_.empty()) wake_.wait(lock);
    while (!blocks_.empty()) {
      const Block block = std::move(blocks_.front());
      blocks_.pop_front();
      lock.unlock();
      broken = broken || !write_block(block);
      if (broken) dropped_.fetch_add(1, std::memory_order_relaxed);
      lock.lock();
    }
    if (closing_) return;
  }
}

void TruthRecorder::request(const TruthRequest& record) {
  if (!on()) return;
  const std::string_view id = record.id.substr(0, kIdBytesMax);
  // Flush first if needed: the record and its id belong in one block.
  if (buffer_.size() + sizeof(RequestRecord) + id.size() > kBufferBytes) flush();
  buffer_ +=
      raw_bytes(RequestRecord{.route = static_cast<std::uint8_t>(record.route),
                              .streamed = record.streamed ? std::uint8_t{1} : std::uint8_t{0},
                              .fault = static_cast<std::uint8_t>(record.fault.kind),
                              .number = record.number,
                              .arrived_ns = record.arrived.ns,
                              .prompt_tokens = record.prompt_tokens,
                              .output_tokens = record.output_tokens,
                              .fault_status = record.fault.status,
                              .id_bytes = static_cast<std::uint8_t>(id.size())});
  buffer_ += id;
}

void TruthRecorder::event(const TruthEvent& record) {
  if (!on()) return;
  put(EventRecord{.category = static_cast<std::uint8_t>(record.category),
                  .tokens = record.tokens,
                  .number = record.number,
                  .at_ns = record.at.ns});
}

void TruthRecorder::end(const TruthEnd& record) {
  if (!on()) return;
  put(EndRecord{.outcome = static_cast<std::uint8_t>(record.outcome),
                .http_status = record.http_status,
                .number = record.number,
                .at_ns = record.at.ns,
                .tokens = record.tokens,
                .events = record.events});
}

void TruthRecorder::wrote(Instant from, Instant until) {
  if (!has_holds() || until - from < kTruthHoldMin) return;
  put(HoldRecord{.from_ns = from.ns, .until_ns = until.ns});
}

void TruthRecorder::flush() {
  if (!on() || buffer_.empty()) return;
  std::string full;
  full.reserve(kBufferBytes + kRecordBytesMax);
  full.swap(buffer_);
  log_->append(thread_, std::move(full));
}

Result<TruthRecord> read_truth_log(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string file, read_file(path));
  std::string_view bytes = file;
  FileHead head;
  if (!take(bytes, head) || head.magic != kMagic) {
    return Error{Code::corrupt, format("'{}' is not a truth log", path.string())};
  }
  if (head.version != kVersion && head.version != kVersionWithHolds) {
    return Error{Code::unsupported,
                 format("'{}' has version {}; this program reads {} and {}", path.string(),
                        head.version, kVersion, kVersionWithHolds)};
  }
  TruthRecord out;
  out.opened = Instant{head.opened_ns};
  out.opened_wall = WallTime{head.opened_wall_ns};
  Numbers numbers;
  while (!bytes.empty()) {
    BlockHead block;
    const std::size_t at = file.size() - bytes.size();
    if (!take(bytes, block) || bytes.size() < block.payload_bytes) {
      out.cut = true;
      break;
    }
    const std::string_view payload = bytes.substr(0, block.payload_bytes);
    bytes.remove_prefix(payload.size());
    if (block.magic != kBlockMagic || block.payload_bytes > kBlockBytesMax ||
        block.checksum != xxh3(payload) || !read_payload(payload, block.thread, out, numbers)) {
      return Error{Code::corrupt,
                   format("'{}': the block at byte {} is damaged", path.string(), at)};
    }
  }
  for (std::size_t i = 0; i < out.replies.size(); ++i) {
    const std::string& id = out.replies[i].id;
    if (!id.empty()) out.by_id[id] = i;
  }
  return out;
}

}  // namespace assay::endpoint
