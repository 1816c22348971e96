#include "campaign/chaos/deed.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/format.h"
#include "base/reach.h"
#include "base/text.h"
#include "net/http_call.h"
#include "net/socket.h"

extern char** environ;  // POSIX has it in no header

namespace assay::campaign {
namespace {

constexpr std::size_t kOutputMax = 4096;
constexpr std::size_t kReplyMax = std::size_t{1} << 20;
constexpr std::size_t kPidFileMax = 64;
constexpr Duration kEndGrace = 1_s;
constexpr Duration kLookAgain = 2_ms;

// The end of what the command wrote.
std::string last_words(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  if (size <= 0) return {};
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(kOutputMax));
  std::string out(static_cast<std::size_t>(size - from), '\0');
  const ssize_t n = ::pread(file, out.data(), out.size(), from);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return std::string(trim(out));
}

int spawn_shell(const std::string& command, int output, pid_t& process) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  // This thread takes no signals, and the program ignores some: the command has none of that.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&how, 0);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string words = command;
  std::array<char*, 4> argv = {shell.data(), flag.data(), words.data(), nullptr};
  const int error = ::posix_spawn(&process, shell.c_str(), &files, &how, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  return error;
}

// Whether the process had ended by `until`; then `status` is how.
bool ended_by(pid_t process, Instant until, int stop, const Clock& clock, int& status) {
  for (;;) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return true;
    const Instant now = clock.now();
    if (now >= until) return false;
    if (!wait_unless(stop, std::min(until, now + kLookAgain), clock)) return false;
  }
}

void end_group(pid_t process, const Clock& clock) {
  int status = 0;
  ::kill(-process, SIGTERM);
  if (ended_by(process, clock.now() + kEndGrace, -1, clock, status)) return;
  ::kill(-process, SIGKILL);
  ::waitpid(process, &status, 0);
}

DeedResult run_command(const plan::ChaosDeed& deed, const DeedLimits& limits, const Clock& clock) {
  DeedResult out;
  const net::Fd file(::memfd_create("assay-act", MFD_CLOEXEC));
  pid_t process = -1;
  const int failed = spawn_shell(deed.command, file.get(), process);
  if (failed != 0) {
    out.error = format("the command could not be started: {}", std::strerror(failed));
    return out;
  }
  const Instant limit = clock.now() + limits.timeout;
  int status = 0;
  if (!ended_by(process, limit, limits.stop, clock, status)) {
    out.error = clock.now() >= limit
                    ? format("it had not ended after {}", human_duration(limits.timeout))
                    : "it had not ended when the run did";
    end_group(process, clock);
  } else if (WIFSIGNALED(status)) {
    out.error = format("it was ended by signal {}", WTERMSIG(status));
  } else {
    out.exit_code = WEXITSTATUS(status);
    if (*out.exit_code != 0) out.error = format("exit code {}", *out.exit_code);
  }
  out.output = last_words(file.get());
  return out;
}

DeedResult call(const plan::ChaosDeed& deed, const DeedLimits& limits, const Clock& clock) {
  DeedResult out;
  const auto url = net::parse_url(deed.url);
  if (!url) {
    out.error = url.error().message;
    return out;
  }
  const auto reply = net::http_call({.method = deed.method,
                                     .url = *url,
                                     .headers = deed.headers,
                                     .body = deed.body,
                                     .timeout = limits.timeout,
                                     .ca_file = limits.ca_file,
                                     .reply_bytes_max = kReplyMax},
                                    clock);
  if (!reply) {
    out.error = reply.error().message;
    return out;
  }
  out.status = reply->status;
  out.output = reply->body.substr(0, kOutputMax);
  if (reply->status >= 400) out.error = format("HTTP {}", reply->status);
  return out;
}

DeedResult send_signal(const plan::ChaosDeed& deed) {
  DeedResult out;
  out.pid = deed.pid;
  if (!deed.pid_file.empty()) {
    const auto text = read_file(deed.pid_file, kPidFileMax);
    const auto pid = text ? parse_int(trim(*text)) : Result<std::int64_t>(text.error());
    if (!pid || *pid != static_cast<pid_t>(*pid)) {
      out.error = text ? format("{}: it does not hold the number of a process", deed.pid_file)
                       : text.error().message;
      return out;
    }
    out.pid = *pid;
  }
  // 0 and negative numbers are groups; 1 is the machine.
  if (out.pid <= 1 || out.pid == ::getpid()) {
    out.error = format("process {} gets no signal from here", out.pid);
  } else if (::kill(static_cast<pid_t>(out.pid), deed.signal) != 0) {
    out.error = format("process {}: {}", out.pid, std::strerror(errno));
  }
  return out;
}

}  // namespace

bool wait_unless(int descriptor, Instant until, const Clock& clock) {
  for (;;) {
    const Duration left = until - clock.now();
    const std::int64_t ns = std::max<std::int64_t>(0, left.ns);
    const timespec time{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::ppoll(&wanted, 1, &time, nullptr) > 0) return false;
    if (clock.now() >= until) return true;
  }
}

DeedResult do_deed(const plan::ChaosDeed& deed, const DeedLimits& limits, const Clock& clock) {
  if (deed.kind != plan::ChaosKind::http && no_programs()) {
    return {.error = format("{} is set", kNoPrograms)};
  }
  switch (deed.kind) {
    case plan::ChaosKind::command:
      return run_command(deed, limits, clock);
    case plan::ChaosKind::http:
      return call(deed, limits, clock);
    case plan::ChaosKind::signal:
    case plan::ChaosKind::pause:
      break;
  }
  return send_signal(deed);
}

}  // namespace assay::campaign
