#include "mcp/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/landlock.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/format.h"
#include "base/reach.h"

namespace assay::mcp {
namespace {

constexpr std::uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                  LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;     // Landlock 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;  // Landlock 3
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;

long landlock_version() {
  constexpr unsigned kAskVersion = 1;
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
}

std::uint64_t handled_writes() {
  const long version = landlock_version();
  return kWrites | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}

bool allow_below(int rules, int folder, std::uint64_t access) {
  landlock_path_beneath_attr beneath{};
  beneath.parent_fd = folder;
  beneath.allowed_access = access;
  return ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
}

// Opened before the fork, so that the new process calls nothing that might take a lock.
class FenceOfFiles {
 public:
  Result<void> make(const Fence& fence) {
    landlock_ruleset_attr attributes{};
    attributes.handled_access_fs = handled_writes();
    rules_ =
        static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
    if (rules_ < 0) return errno_error("this kernel cannot keep a command from writing files");
    TRY(allow("/dev", handled_writes() & kOfFiles));  // /dev/null; its other files need root
    TRY(allow(fence.scratch, handled_writes()));
    if (fence.write) TRY(allow(fence.folder, handled_writes()));
    return {};
  }
  ~FenceOfFiles() {
    if (rules_ >= 0) ::close(rules_);
  }
  FenceOfFiles() = default;
  FenceOfFiles(const FenceOfFiles&) = delete;
  FenceOfFiles& operator=(const FenceOfFiles&) = delete;

  bool enter() const {
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_landlock_restrict_self, rules_, 0) == 0;
  }

 private:
  Result<void> allow(const std::filesystem::path& folder, std::uint64_t access) const {
    const int fd = ::open(folder.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) return errno_error(format("cannot open '{}'", folder.string()));
    const bool done = allow_below(rules_, fd, access);
    ::close(fd);
    if (!done) return errno_error(format("cannot let commands write below '{}'", folder.string()));
    return {};
  }

  int rules_ = -1;
};

bool take(int fd, std::string& to, int* stream) {
  std::array<char, 16'384> bytes{};
  for (;;) {
    const ssize_t size = ::read(fd, bytes.data(), bytes.size());
    if (size > 0) {
      to.append(bytes.data(), static_cast<std::size_t>(size));
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    ::close(fd);
    *stream = -1;
    return false;
  }
}

struct Pipes {
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> messages{-1, -1};

  Result<void> open() {
    if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(messages.data(), O_CLOEXEC) != 0) {
      const Error error = errno_error("cannot make a pipe");
      close();
      return error;
    }
    return {};
  }
  void close() {
    for (int* fd : {&out[0], &out[1], &messages[0], &messages[1]}) {
      if (*fd >= 0) ::close(std::exchange(*fd, -1));
    }
  }
};

// All that the new process needs, prepared before it exists.
struct Exec {
  std::string program{};
  std::vector<char*> arguments{};
  std::vector<std::string> variables{};
  std::vector<char*> environment{};

  Exec(const std::filesystem::path& path, const std::vector<std::string>& given, const Fence& fence)
      : program(path.string()) {
    arguments.push_back(program.data());
    for (const std::string& one : given) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    const std::string own = format("{}=", kLoopbackOnly);
    for (char** one = environ; *one != nullptr; ++one) {
      const std::string_view variable = *one;
      if (variable.starts_with(own) || variable.starts_with("TMPDIR=")) continue;
      variables.emplace_back(variable);
    }
    variables.emplace_back("NO_COLOR=1");
    variables.push_back(format("{}=1", kNoPrograms));
    if (!fence.remote) variables.push_back(own + "1");
    variables.push_back(format("TMPDIR={}", fence.scratch.string()));
    for (std::string& one : variables) environment.push_back(one.data());
    environment.push_back(nullptr);
  }
};

[[noreturn]] void become(Exec& exec, const Pipes& pipes, const FenceOfFiles& files) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool placed =
      ::dup2(nothing, 0) >= 0 && ::dup2(pipes.out[1], 1) >= 0 && ::dup2(pipes.messages[1], 2) >= 0;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int one : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(one, SIG_DFL);
  if (placed && files.enter()) {
    ::execve(exec.program.c_str(), exec.arguments.data(), exec.environment.data());
  }
  constexpr std::string_view kWords = "error: the command could not be started\n";
  [[maybe_unused]] const ssize_t said = ::write(2, kWords.data(), kWords.size());
  ::_exit(127);
}

}  // namespace

bool can_fence_files() { return landlock_version() > 0; }

Result<Child> Child::start(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments, const Fence& fence) {
  FenceOfFiles files;
  TRY(files.make(fence));
  Exec exec(program, arguments, fence);
  Pipes pipes;
  TRY(pipes.open());
  const pid_t pid = ::fork();
  if (pid == 0) become(exec, pipes, files);
  if (pid < 0) {
    const Error error = errno_error("cannot start a process");
    pipes.close();
    return error;
  }
  ::setpgid(pid, pid);  // in both, whichever comes first
  const int out = std::exchange(pipes.out[0], -1);
  const int messages = std::exchange(pipes.messages[0], -1);
  pipes.close();
  ::fcntl(out, F_SETFL, O_NONBLOCK);
  ::fcntl(messages, F_SETFL, O_NONBLOCK);
  return Child(pid, out, messages);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      messages_(std::exchange(other.messages_, -1)) {}

Child::~Child() {
  if (out_ >= 0) ::close(out_);
  if (messages_ >= 0) ::close(messages_);
  if (pid_ < 0) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

bool Child::read_out(std::string& to) { return out_ >= 0 && take(out_, to, &out_); }
bool Child::read_messages(std::string& to) {
  return messages_ >= 0 && take(messages_, to, &messages_);
}

void Child::interrupt() {
  if (pid_ > 0) ::kill(-pid_, SIGINT);
}
void Child::kill() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool Child::has_ended(int* status) {
  if (pid_ < 0) return true;
  if (::waitpid(pid_, status, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

}  // namespace assay::mcp
