#include "proxy/recorder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/signals_blocked.h"
#include "base/version.h"

namespace assay::proxy {
namespace {

constexpr std::size_t kQueuedBytesMax = std::size_t{256} << 20;
constexpr int kRecorderNice = 5;  // what passes goes first

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(const std::filesystem::path& path,
                                                 TraceOptions options) {
  const bool is_file = path.extension() == ".jsonl";
  const std::filesystem::path folder = is_file ? std::filesystem::path() : path;
  const std::filesystem::path name = is_file ? path : path / "trace.jsonl";
  if (name.has_parent_path()) TRY(make_folders(name.parent_path()));
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    return invalid(format("--record: '{}' exists already\n  name another place", name.string()));
  }
  if (fd < 0) return errno_error(name.string());
  File file(::fdopen(fd, "a"));
  if (!file) return errno_error(name.string());
  return std::unique_ptr<Recorder>(new Recorder(name, folder, std::move(file), std::move(options)));
}

Recorder::Recorder(std::filesystem::path file_name, std::filesystem::path folder, File file,
                   TraceOptions options)
    : file_name_(std::move(file_name)),
      folder_(std::move(folder)),
      file_(std::move(file)),
      rows_(std::move(options)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Recorder::~Recorder() { [[maybe_unused]] const Result<void> stopped = stop(); }

void Recorder::record(std::unique_ptr<Seen> seen) {
  const std::size_t bytes = seen->memory_bytes();
  const Lock lock(mutex_);
  if (stopping_ || seen->cut || queued_bytes_ + bytes > kQueuedBytesMax) {
    ++dropped_;
    return;
  }
  queued_bytes_ += bytes;
  queue_.push_back(std::move(seen));
  wake_.notify_one();
}

void Recorder::run() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kRecorderNice);
  for (;;) {
    std::unique_ptr<Seen> seen;
    {
      Lock lock(mutex_);
      while (queue_.empty() && !stopping_) wake_.wait(lock);
      if (queue_.empty()) return;
      seen = std::move(queue_.front());
      queue_.pop_front();
      queued_bytes_ -= seen->memory_bytes();
    }
    const Json row = rows_.row(*seen);
    if (row.is_null() || !trouble_.empty()) continue;
    const std::string line = row.dump() + "\n";
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
        std::fflush(file_.get()) != 0) {
      trouble_ = format("{}: {}", file_name_.string(), std::strerror(errno));
    }
  }
}

Result<void> Recorder::stop() {
  if (thread_.joinable()) {
    {
      const Lock lock(mutex_);
      stopping_ = true;
      wake_.notify_one();
    }
    thread_.join();
    file_.reset();
    {
      const Lock lock(mutex_);
      dropped_in_all_ = dropped_;
    }
    if (!folder_.empty()) {
      TRY(write_file_atomic(folder_ / "about.json", about().dump(2) + "\n"));
    }
  }
  if (trouble_.empty()) return {};
  return Error{Code::io, "the trace is not whole: " + trouble_};
}

Json Recorder::about() const {
  const TraceCounts& counts = rows_.counts();
  return Json()
      .set("proxy_trace", 1)
      .set("assay", version())
      .set("rows", counts.rows)
      .set("other_exchanges", counts.other)
      .set("not_recorded", dropped_in_all_)
      .set("block_size", rows_.block())
      .set("blocks", counts.blocks)
      .set("blocks_unnamed", counts.blocks_unnamed)
      .set("bytes_per_token", rows_.bytes_per_token())
      .set("input_counted_by_server", counts.input_by_server)
      .set("output_counted_by_server", counts.output_by_server)
      .set("names", "numbers in the order of first sight, of digests with a secret that is gone");
}

}  // namespace assay::proxy
