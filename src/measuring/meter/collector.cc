#include "meter/collector.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/thread_books.h"

namespace assay::meter {
namespace {

constexpr int kNice = 5;

// Both are wishes: a kernel that refuses them changes what the readings cost, not what they say.
void step_aside(const std::vector<int>& cores) {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

Result<std::unique_ptr<Collector>> Collector::open(std::vector<std::unique_ptr<Source>> sources,
                                                   CollectorOptions options, const Clock& clock) {
  std::unique_ptr<Collector> out(new Collector(std::move(options), clock));
  for (std::unique_ptr<Source>& source : sources) {
    Reader reader{.source = std::move(source)};
    auto first = reader.source->read(clock);
    if (!first) return first.error().within("telemetry: " + reader.source->facts().name);
    reader.first = *std::move(first);
    out->readers_.push_back(std::move(reader));
  }
  return out;
}

Collector::~Collector() { stop(); }

void Collector::write(const std::string& lines) {
  if (!file_) return;
  if (std::fwrite(lines.data(), 1, lines.size(), file_.get()) == lines.size() &&
      std::fflush(file_.get()) == 0) {
    return;
  }
  trouble_ = format("the telemetry is not whole: {}", std::strerror(errno));
  file_.reset();
}

Result<void> Collector::start(const std::filesystem::path& file, std::string_view run_id) {
  TRY(make_folders(file.parent_path()));
  file_.reset(std::fopen(file.c_str(), "we"));
  if (!file_) return errno_error(file.string());
  std::string head = observe::TelemetryLines::head(run_id);
  for (const Reader& reader : readers_) head += lines_.source(reader.source->facts());
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    for (const SourceReading& reading : readers_[i].first) {
      head += lines_.reading(i, reading.at, reading.took, reading.samples);
      ++readers_[i].cost.readings;
    }
    readers_[i].first.clear();
  }
  write(head);
  started_ = true;
  for (std::uint32_t i = 0; i < readers_.size(); ++i) {
    readers_[i].thread = std::thread([this, i] { read_on(i); });
  }
  return {};
}

bool Collector::wait_until(Instant due) {
  Lock lock(mutex_);
  while (!stopping_) {
    const Instant now = clock_.now();
    if (now >= due) return false;
    ended_.wait_for(lock, due - now);
  }
  return true;
}

void Collector::read_once(std::uint32_t index) {
  Reader& reader = readers_[index];
  const Instant began = clock_.now();
  const auto readings = reader.source->read(clock_);
  const Lock lock(mutex_);
  if (!readings) {
    const Duration took = clock_.now() - began;
    ++reader.cost.failed;
    write(
        observe::TelemetryLines::failure(index, began + took / 2, took, readings.error().message));
    return;
  }
  for (const SourceReading& reading : *readings) {
    ++reader.cost.readings;
    write(lines_.reading(index, reading.at, reading.took, reading.samples));
  }
}

void Collector::read_on(std::uint32_t index) {
  step_aside(options_.cores);
  const Duration interval = readers_[index].source->facts().interval;
  Instant due = clock_.now() + interval;
  while (!wait_until(due)) {
    read_once(index);
    due = std::max(due + interval, clock_.now());
  }
  read_once(index);
  ThreadBooksReader books;
  if (const auto own = books.look()) readers_[index].cost.cpu = own->ran;
  readers_[index].cost.unreadable = readers_[index].source->unreadable();
}

void Collector::stop() {
  if (!started_) return;
  started_ = false;
  if (options_.after > Duration{}) {
    OsClock clock;
    clock.sleep_until(clock.now() + options_.after);
  }
  {
    const Lock lock(mutex_);
    stopping_ = true;
    ended_.notify_all();
  }
  std::vector<observe::TelemetryCost> costs;
  for (Reader& reader : readers_) {
    reader.thread.join();
    costs.push_back(reader.cost);
  }
  const Lock lock(mutex_);
  write(lines_.end(costs));
  file_.reset();
}

std::string Collector::trouble() const { return trouble_; }

}  // namespace assay::meter
