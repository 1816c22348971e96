#include "campaign/calibrate/endpoint_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "base/text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace assay::campaign {
namespace {

constexpr int kStartMs = 10'000;

// The child's end of the pipe becomes its standard output.
Result<pid_t> spawn(const std::vector<std::string>& args, int output) {
  std::vector<char*> argv;
  std::vector<std::string> copies = args;
  for (std::string& arg : copies) argv.push_back(arg.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return errno_error("start the built-in endpoint");
  }
  return pid;
}

}  // namespace

Result<std::unique_ptr<EndpointProcess>> EndpointProcess::start(std::vector<std::string> flags,
                                                                const std::vector<int>& cores) {
  std::vector<std::string> args{"assay", "endpoint", "--port", "0", "--quiet"};
  args.insert(args.end(), flags.begin(), flags.end());
  return start_command(args, cores);
}

Result<std::unique_ptr<EndpointProcess>> EndpointProcess::start_proxy(
    const std::string& server, const std::string& folder, const std::vector<std::string>& flags,
    const std::vector<int>& cores) {
  std::vector<std::string> args{"assay", "proxy",    server, "--port",
                                "0",     "--record", folder, "--quiet"};
  args.insert(args.end(), flags.begin(), flags.end());
  return start_command(args, cores);
}

Result<std::unique_ptr<EndpointProcess>> EndpointProcess::start_command(
    const std::vector<std::string>& args, const std::vector<int>& cores) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  const auto pid = spawn(args, ends[1]);
  ::close(ends[1]);
  if (!pid) {
    ::close(ends[0]);
    return pid.error();
  }
  std::unique_ptr<EndpointProcess> out(new EndpointProcess(*pid));
  if (!cores.empty()) {
    // Best effort, about before it starts its threads: pinning is a convenience, so failure is
    // ignored.
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
    ::sched_setaffinity(*pid, sizeof(set), &set);
  }
  const Result<void> listens = out->wait_until_it_listens(ends[0]);
  ::close(ends[0]);
  if (!listens) return listens.error();
  return out;
}

Result<void> EndpointProcess::wait_until_it_listens(int descriptor) {
  std::string said;
  while (said.find('\n') == std::string::npos) {
    pollfd wanted{descriptor, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kStartMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Error{Code::timed_out, "the built-in endpoint did not begin to listen"};
    char bytes[256];
    const ssize_t got = ::read(descriptor, bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{Code::io, "the built-in endpoint ended before it listened"};
    said.append(bytes, static_cast<std::size_t>(got));
  }
  url_ = trim(said.substr(0, said.find('\n')));
  return {};
}

Result<void> EndpointProcess::stop() {
  if (pid_ <= 0) return {};
  ::kill(pid_, SIGINT);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return errno_error("wait for the built-in endpoint");
  }
  pid_ = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Error{Code::io, format("the built-in endpoint failed (status {})", status)};
  }
  return {};
}

EndpointProcess::~EndpointProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGINT);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace assay::campaign
