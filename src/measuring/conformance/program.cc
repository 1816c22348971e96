#include "conformance/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace assay::conformance {
namespace {

constexpr Duration kLook{20'000'000};  // between two looks at the program

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A process group of its own, so that the limit reaches its workers too.
Result<pid_t> spawn(const std::filesystem::path& program, std::vector<std::string> args,
                    std::vector<std::string> environment, const std::filesystem::path& words) {
  const std::vector<char*> argv = pointers(args);
  const std::vector<char*> envp = pointers(environment);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, words.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  errno = failed;
  return errno_error(format("start {}", program.string()));
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

Result<ProgramRun> run_program(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment,
                               const std::filesystem::path& words, Duration limit) {
  std::vector<std::string> args{program.string()};
  args.insert(args.end(), arguments.begin(), arguments.end());
  std::vector<std::string> all = environment;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  ProgramRun out;
  OsClock clock;
  const Instant start = clock.now();
  // Workers that it leaves behind become our children, and their CPU time is counted.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  ASSIGN_OR_RETURN(const pid_t pid, spawn(program, std::move(args), std::move(all), words));
  int status = 0;
  rusage used{};
  for (;;) {
    const pid_t ended = ::wait4(pid, &status, WNOHANG, &used);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) return errno_error("wait for a program");
    if (!out.timed_out && clock.now() - start > limit) {
      out.timed_out = true;
      ::kill(-pid, SIGKILL);
    }
    clock.sleep_until(clock.now() + kLook);
  }
  ::kill(-pid, SIGKILL);  // workers that it left behind
  while (::wait4(-pid, nullptr, 0, nullptr) > 0) {
  }
  out.wall_s = (clock.now() - start).seconds();
  out.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  constexpr int kSignalled = 128;
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return out;
}

std::filesystem::path find_program(std::string_view name) {
  const auto runs = [](const std::filesystem::path& path) {
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (name.find('/') != std::string_view::npos) {
    return runs(name) ? std::filesystem::path(name) : std::filesystem::path();
  }
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    if (folder.empty()) continue;
    const auto file = std::filesystem::path(folder) / name;
    if (runs(file)) return file;
  }
  return {};
}

std::string last_lines(const std::filesystem::path& file, std::size_t lines) {
  const auto text = read_file(file);
  if (!text) return {};
  std::string_view rest = trim(*text);
  std::size_t at = rest.size();
  for (std::size_t i = 0; i < lines && at != std::string_view::npos && at > 0; ++i) {
    at = rest.rfind('\n', at - 1);
  }
  if (at != std::string_view::npos && at > 0) rest = rest.substr(at + 1);
  return std::string(rest);
}

}  // namespace assay::conformance
