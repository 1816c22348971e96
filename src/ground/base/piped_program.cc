#include "base/piped_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/format.h"
#include "base/reach.h"

extern char** environ;  // POSIX has it in no header

namespace assay {
namespace {

constexpr Duration kLook = 5_ms;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// A write to a program that has ended is an error of the write, not the end of this process.
void ignore_broken_pipes() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
}

std::string ending_text(int status) {
  if (WIFSIGNALED(status)) return format("was ended by signal {}", WTERMSIG(status));
  return format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

PipedProgram& PipedProgram::operator=(PipedProgram&& other) noexcept {
  if (this == &other) return *this;
  end(kGrace);
  process_ = std::exchange(other.process_, -1);
  input_ = std::exchange(other.input_, -1);
  output_ = std::exchange(other.output_, -1);
  return *this;
}

Result<PipedProgram> PipedProgram::start(const std::string& command, std::string_view named_by) {
  if (no_programs()) {
    return invalid(format("{} program:…: {} is set, so no program of yours is started", named_by,
                          kNoPrograms));
  }
  ignore_broken_pipes();
  std::array<int, 2> in{-1, -1};
  std::array<int, 2> out{-1, -1};
  if (::pipe2(in.data(), O_CLOEXEC) != 0) return errno_error("pipe");
  if (::pipe2(out.data(), O_CLOEXEC) != 0) {
    const Error error = errno_error("pipe");
    close_fd(in[0]);
    close_fd(in[1]);
    return error;
  }
  PipedProgram made;
  made.input_ = in[1];
  made.output_ = out[0];
  ::fcntl(made.input_, F_SETFL, O_NONBLOCK);
  ::fcntl(made.output_, F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&how, 0);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string words = command;
  std::array<char*, 4> argv = {shell.data(), flag.data(), words.data(), nullptr};
  const int error =
      ::posix_spawn(&made.process_, shell.c_str(), &files, &how, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  close_fd(in[0]);
  close_fd(out[1]);
  if (error == 0) return made;
  made.process_ = -1;
  return Error{code_of_errno(error), format("the program '{}' could not be started", command)};
}

PipedProgram::Io PipedProgram::write(std::string_view& bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(input_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? Io::later : Io::closed;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Io::done;
}

PipedProgram::Io PipedProgram::read(std::string& out) {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  const std::size_t before = out.size();
  out.resize(before + kChunk);
  ssize_t n = 0;
  do {
    n = ::read(output_, out.data() + before, kChunk);
  } while (n < 0 && errno == EINTR);
  out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n > 0) return Io::done;
  return n < 0 && errno == EAGAIN ? Io::later : Io::closed;
}

std::string PipedProgram::end(Duration grace) {
  close_fd(input_);
  close_fd(output_);
  if (process_ <= 0) return {};
  const pid_t process = std::exchange(process_, -1);
  int status = 0;
  const OsClock clock;
  const auto ends_by = [&](Instant limit) {
    for (;;) {
      if (::waitpid(process, &status, WNOHANG) != 0) return true;
      if (clock.now() >= limit) return false;
      OsClock().sleep_until(clock.now() + kLook);
    }
  };
  if (!ends_by(clock.now() + grace)) {
    ::kill(-process, SIGTERM);
    if (!ends_by(clock.now() + grace)) {
      ::kill(-process, SIGKILL);
      ::waitpid(process, &status, 0);
    }
  }
  ::kill(-process, SIGKILL);  // what the shell left behind
  return ending_text(status);
}

}  // namespace assay
