#include "pipeline/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::pipeline {
namespace fs = std::filesystem;
namespace {

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& one : texts) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::set<std::string_view> own;
  for (const std::string& one : variables) {
    own.insert(std::string_view(one).substr(0, one.find('=')));
  }
  std::vector<std::string> out = variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    if (!own.contains(variable.substr(0, variable.find('=')))) out.emplace_back(variable);
  }
  return out;
}

// In the child, which has one thread as its parent had.
[[noreturn]] void become(pid_t parent, const char* folder, int log, std::vector<char*>& words,
                         std::vector<char*>& environment) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // this program has already ended
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int one : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) ::signal(one, SIG_DFL);
  if (::chdir(folder) == 0) ::execvpe(words[0], words.data(), environment.data());
  const std::string why = format("cannot start '{}': {}\n", words[0], std::strerror(errno));
  [[maybe_unused]] const ssize_t said = ::write(2, why.data(), why.size());
  ::_exit(127);
}

bool has_mark(const fs::path& process, const std::string& mark) {
  const auto environment = read_file(process / "environ", std::size_t{16} << 20);
  if (!environment) return false;
  const auto variables = split(*environment, '\0');
  return std::ranges::find(variables, std::string_view(mark)) != variables.end();
}

}  // namespace

Result<pid_t> launch(const Launch& launch) {
  const int log =
      ::open(launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (log < 0) return errno_error(format("cannot write '{}'", launch.log.string()));
  std::vector<std::string> words = launch.words;
  std::vector<std::string> variables = environment_with(launch.variables);
  std::vector<char*> arguments = pointers_of(words);
  std::vector<char*> environment = pointers_of(variables);
  const std::string folder = launch.folder.empty() ? "." : launch.folder.string();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(parent, folder.c_str(), log, arguments, environment);
  const int number = errno;
  ::close(log);
  errno = number;
  if (pid < 0) return errno_error("cannot start a process");
  ::setpgid(pid, pid);  // in both, whichever comes first
  return pid;
}

void signal_group(pid_t group, int signal) {
  if (group > 0) ::kill(-group, signal);
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return format("killed by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return {};
  return format("exit {}", WEXITSTATUS(status));
}

std::size_t end_leftovers(const std::string& value) {
  const std::string mark = format("{}={}", kWorkMark, value);
  std::size_t ended = 0;
  std::error_code error;
  fs::directory_iterator entries("/proc", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const auto pid = parse_int(entries->path().filename().string());
    if (!pid || *pid <= 1 || *pid == ::getpid() || !has_mark(entries->path(), mark)) continue;
    // A descriptor names this process and no later one of its number.
    const auto process = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
    if (process < 0) continue;
    if (has_mark(entries->path(), mark) &&
        ::syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0) == 0) {
      ++ended;
      constexpr int kGoneWithinMs = 10'000;
      pollfd gone{.fd = process, .events = POLLIN, .revents = 0};
      ::poll(&gone, 1, kGoneWithinMs);
    }
    ::close(process);
  }
  return ended;
}

}  // namespace assay::pipeline
