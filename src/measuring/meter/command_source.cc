#include "meter/command_source.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/reach.h"
#include "base/text.h"

extern char** environ;  // POSIX has it in no header

namespace assay::meter {
namespace {

constexpr std::size_t kLineMax = std::size_t{64} << 10;
constexpr double kSecondsMax = 1e9;  // of an instant on the run's clock, either way
constexpr Duration kFirst = 5_s;
constexpr Duration kGrace = 1_s;
constexpr Duration kLook = 10_ms;

class CommandSource final : public Source {
 public:
  CommandSource(std::string command, Duration interval, Duration wall_minus_run)
      : command_(std::move(command)), interval_(interval), wall_minus_run_(wall_minus_run) {}
  ~CommandSource() override { end(); }
  CommandSource(const CommandSource&) = delete;
  CommandSource& operator=(const CommandSource&) = delete;

  Result<void> start() {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return errno_error("pipe");
    pipe_ = pipe[0];
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&how, 0);
    std::string shell = "/bin/sh";
    std::string flag = "-c";
    std::array<char*, 4> words = {shell.data(), flag.data(), command_.data(), nullptr};
    const int error = ::posix_spawn(&process_, shell.c_str(), &files, &how, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    ::close(pipe[1]);
    if (error == 0) return {};
    process_ = -1;
    return Error{code_of_errno(error), "the meter's command could not be started"};
  }

  observe::TelemetrySource facts() const override {
    return {.kind = "command", .name = command_, .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    std::vector<SourceReading> out;
    std::array<char, 4096> buffer{};
    for (;;) {
      if (!begun_ && out.empty() && !wait_for_bytes(clock)) {
        return Error{Code::timed_out, "the meter's command printed no value in time"};
      }
      const ssize_t n = ::read(pipe_, buffer.data(), buffer.size());
      if (n > 0) {
        take({buffer.data(), static_cast<std::size_t>(n)}, clock.now(), out);
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      begun_ = begun_ || !out.empty();
      if (n < 0 && errno == EAGAIN) {
        if (begun_) return out;
        continue;
      }
      if (!out.empty()) return out;  // the next reading reports the end
      return Error{Code::refused, "the meter's command has ended"};
    }
  }

  std::uint64_t unreadable() const override { return unreadable_; }

 private:
  // Also true at the end of the output.
  bool wait_for_bytes(const Clock& clock) {
    if (first_until_ == Instant{}) first_until_ = clock.now() + kFirst;
    const Duration left = first_until_ - clock.now();
    pollfd wanted{.fd = pipe_, .events = POLLIN, .revents = 0};
    return left > Duration{} && ::poll(&wanted, 1, static_cast<int>(left.ns / 1'000'000) + 1) != 0;
  }

  void take(std::string_view bytes, Instant now, std::vector<SourceReading>& out) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (line_.size() > kLineMax) {
        ++unreadable_;
        line_.clear();
        skipping_ = true;
      }
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      if (!skipping_ && !trim(line_).empty()) take_line(now, out);
      skipping_ = false;
      line_.clear();
    }
  }

  void take_line(Instant now, std::vector<SourceReading>& out) {
    const auto json = Json::parse(line_);
    const Json* const value = json ? json->find("value") : nullptr;
    if (value == nullptr || !value->is_number() || !std::isfinite(value->as_double())) {
      ++unreadable_;
      return;
    }
    SourceReading reading{.at = now};
    if (const Json* const ts = json->find("ts")) {
      const double at = ts->as_double(-1) - wall_minus_run_.seconds();
      if (!ts->is_number() || !(std::abs(at) < kSecondsMax)) {
        ++unreadable_;
        return;
      }
      reading.at = Instant{} + Duration::from_seconds(at);
    }
    const bool energy = (*json)["kind"].as_string() == "energy";
    observe::PrometheusSample sample{
        .name = energy ? "meter_energy_joules_total" : "meter_power_watts",
        .value = value->as_double()};
    const std::string_view label = (*json)["label"].as_string();
    if (!label.empty()) sample.labels.emplace_back("label", label);
    reading.samples.push_back(std::move(sample));
    out.push_back(std::move(reading));
  }

  void end() {
    if (pipe_ >= 0) ::close(pipe_);
    if (process_ <= 0) return;
    ::kill(-process_, SIGTERM);
    OsClock clock;
    const Instant limit = clock.now() + kGrace;
    while (::waitpid(process_, nullptr, WNOHANG) == 0) {
      if (clock.now() >= limit) {
        ::kill(-process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        return;
      }
      clock.sleep_until(clock.now() + kLook);
    }
    ::kill(-process_, SIGKILL);  // what the shell left behind
  }

  std::string command_;
  Duration interval_;
  Duration wall_minus_run_;
  pid_t process_ = -1;
  int pipe_ = -1;
  std::string line_{};
  bool skipping_ = false;
  bool begun_ = false;  // a value came
  Instant first_until_{};
  std::uint64_t unreadable_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> command_source(const std::string& command, Duration interval,
                                               Duration wall_minus_run) {
  if (no_programs()) {
    return invalid(
        format("--meter-command: {} is set, so no program of yours is started", kNoPrograms));
  }
  auto source = std::make_unique<CommandSource>(command, interval, wall_minus_run);
  TRY(source->start());
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::meter
