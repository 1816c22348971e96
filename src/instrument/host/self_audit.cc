#include "host/self_audit.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace assay::host {
namespace {

// Half a per cent of one core: enough to see what the machine takes, too little to disturb.
constexpr Duration kBurst = 50_us;
constexpr Duration kPause = 10_ms;
constexpr Duration kGap = 50_us;

Duration of(const timeval& t) { return {t.tv_sec * 1'000'000'000 + t.tv_usec * 1'000}; }

double seconds(const timeval& t) { return of(t).seconds(); }

// The n-th number (from 0) of a text of words; −1 where there is none.
double number_at(std::string_view text, std::size_t n) {
  std::size_t seen = 0;
  for (const std::string_view word : split(text, ' ')) {
    const Result<double> value = parse_double(word);
    if (value && seen++ == n) return *value;
  }
  return -1;
}

// Busy CPU seconds of the whole machine: /proc/stat, first line, in ticks: user nice system idle
// iowait irq softirq steal.
double busy_seconds(const std::filesystem::path& root) {
  const Result<std::string> text = read_file(root / "proc/stat");
  if (!text) return -1;
  const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
  double busy = 0;
  for (const std::size_t field : {0U, 1U, 2U, 5U, 6U}) {
    const double ticks = number_at(line, field);
    if (ticks < 0) return -1;
    busy += ticks;
  }
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Seconds in which some task waited for a CPU: "some avg10=… total=<µs>".
double pressure_seconds(const std::filesystem::path& root) {
  const Result<std::string> text = read_file(root / "proc/pressure/cpu");
  if (!text) return -1;
  const std::size_t at = text->find("total=");
  if (at == std::string::npos) return -1;
  const std::string_view us = split(std::string_view(*text).substr(at + 6), '\n').front();
  return parse_double(us).value_or(0) * 1e-6;
}

// How often the calling thread had to leave its core to another.
long preemptions() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::uint32_t ephemeral_ports(const std::filesystem::path& root) {
  const Result<std::string> text = read_file(root / "proc/sys/net/ipv4/ip_local_port_range");
  if (!text) return 0;
  unsigned low = 0;
  unsigned high = 0;
  if (std::sscanf(text->c_str(), "%u %u", &low, &high) != 2 || high < low) return 0;
  return high - low + 1;
}

}  // namespace

LagFigures LagRecorder::figures() const {
  const auto at = [&](double p) {
    return Duration{static_cast<std::int64_t>(histogram_.percentile(p))};
  };
  return {.count = histogram_.count(),
          .p50 = at(50),
          .p99 = at(99),
          .p999 = at(99.9),
          .max = {max_},
          .stalls = stalls_,
          .stalled = {stalled_},
          .holdups = holdups_};
}

ThreadWatch::ThreadWatch() : start_(read()) {}

ThreadWatch::Books ThreadWatch::read() {
  Books books{.at = OsClock().now()};
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  books.cpu = of(usage.ru_utime) + of(usage.ru_stime);
  books.preempted = static_cast<std::uint64_t>(usage.ru_nivcsw);
  // Time on the CPU, time waiting for it, time slices.
  const Result<std::string> text = read_file("/proc/thread-self/schedstat");
  if (text) {
    books.run_queue = {static_cast<std::int64_t>(number_at(*text, 1))};
    books.slices = static_cast<std::int64_t>(number_at(*text, 2));
  }
  return books;
}

void ThreadWatch::finish(ThreadFigures& out) const {
  const Books now = read();
  const double wall = (now.at - start_.at).seconds();
  out.cpu_share = wall > 0 ? (now.cpu - start_.cpu).seconds() / wall : 0;
  out.preempted = now.preempted - start_.preempted;
  if (now.run_queue.ns < 0) return;
  out.run_queue_delay = now.run_queue - start_.run_queue;
  out.run_queue_waits = now.slices - start_.slices;
}

SelfAudit::SelfAudit(Canary canary, std::filesystem::path root)
    : root_(std::move(root)), start_(read()), taken_start_(read_taken_time(root_)) {
  if (canary == Canary::yes) thread_ = std::thread([this] { watch(); });
}

SelfAudit::~SelfAudit() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

SelfAudit::Books SelfAudit::read() const {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {.at = OsClock().now(),
          .busy_s = busy_seconds(root_),
          .own_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .pressure_s = pressure_seconds(root_)};
}

// The canary must not cause the gaps that it counts: bursts of 2 ms, on a core shared with a
// measuring thread, made one send in fifty up to 2 ms late. So a burst is short, its thread is of
// the idle class, which yields to every thread that wakes, and a gap in which it was preempted is
// not counted: the scheduler caused that one, and ThreadWatch reports it. The other gaps were taken
// from the core itself.
void canary_burst(CanaryFigures& canary, Clock& clock, const std::function<long()>& preemptions) {
  const long before = preemptions();
  Instant last = clock.now();
  const Instant end = last + kBurst;
  canary.watched += kBurst;
  while (last < end) {
    const Instant now = clock.now();
    const Duration gap = now - std::exchange(last, now);
    // A gap is longer than what is left of the burst: there is one at most.
    if (gap <= kGap || preemptions() != before) continue;
    ++canary.gaps_50us;
    if (gap > 1_ms) ++canary.gaps_1ms;
    canary.gap_max = std::max(canary.gap_max, gap);
  }
  clock.sleep_until(last + kPause);
}

void SelfAudit::watch() {
  const sched_param none{};
  if (::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none) != 0) return;
  OsClock clock;
  while (!stopping_.load(std::memory_order_relaxed)) canary_burst(canary_, clock, preemptions);
}

void SelfAudit::stop(ClientAudit& out) {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  const Books now = read();
  out.wall = now.at - start_.at;
  const double wall = out.wall.seconds();
  out.canary = canary_;
  const TakenTime taken = taken_between(taken_start_, read_taken_time(root_));
  out.stolen = taken.stolen;
  out.stolen_step = stolen_step();
  out.throttled = taken.throttled;
  out.throttled_periods = taken.throttled_periods;
  out.cores = static_cast<int>(usable_cores().size());
  out.descriptors_max = static_cast<std::uint64_t>(::sysconf(_SC_OPEN_MAX));
  out.ports = ephemeral_ports(root_);
  if (wall <= 0) return;
  out.own_cpu = (now.own_s - start_.own_s) / wall;
  if (now.busy_s >= 0) {
    out.foreign_cpu = std::max((now.busy_s - start_.busy_s) / wall - out.own_cpu, 0.0);
  }
  if (now.pressure_s >= 0) out.pressure_share = (now.pressure_s - start_.pressure_s) / wall;
}

}  // namespace assay::host
