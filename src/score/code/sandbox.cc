#include "score/code/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::score {
namespace {

constexpr int kPollMs = 20;
constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;
constexpr unsigned kNobody = 65534;

// What the child says on its status pipe before it becomes the program.
enum Layer : char {
  filtered = 'F',
  landlocked = 'L',
  nobody = 'N',
  no_filter = 'X',
  no_exec = 'E'
};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read{};
  Descriptor write{};
  Result<void> open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error("a pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
    return {};
  }
};

// ---- in the child, between fork and exec: system calls only, no memory ----------------------

bool forbid_calls() {
#if defined(__x86_64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "sandbox.cc: the system calls of this architecture are not known"
#endif
  constexpr std::array kForbidden = {SYS_socket,
                                     SYS_socketpair,
                                     SYS_connect,
                                     SYS_bind,
                                     SYS_setsid,
                                     SYS_setpgid,
                                     SYS_ptrace,
                                     SYS_process_vm_readv,
                                     SYS_unshare,
                                     SYS_setns,
                                     SYS_process_vm_writev,
                                     SYS_mount,
                                     SYS_umount2,
                                     SYS_bpf,
                                     SYS_keyctl,
                                     SYS_perf_event_open,
                                     SYS_chroot,
                                     SYS_pivot_root,
                                     SYS_userfaultfd,
                                     SYS_io_uring_setup};
  constexpr std::size_t kCount = kForbidden.size();
  std::array<sock_filter, kCount + 6> code{};
  std::size_t at = 0;
  const auto step = [&code, &at](sock_filter one) { code[at++] = one; };
  const auto load = [&step](std::uint32_t offset) {
    step(sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offset});
  };
  load(offsetof(seccomp_data, arch));
  step(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
  step(sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS});
  load(offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto to_refusal = static_cast<std::uint8_t>(kCount - i);
    step(sock_filter{BPF_JMP | BPF_JEQ | BPF_K, to_refusal, 0,
                     static_cast<std::uint32_t>(kForbidden[i])});
  }
  step(sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  step(sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM});
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool confine_writes(const char* folder) {
  constexpr std::uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = kWrites;
  const auto set =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0));
  if (set < 0) return false;
  const auto allow = [set](const char* path, std::uint64_t access) {
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = access;
    beneath.parent_fd = ::open(path, O_PATH | O_CLOEXEC);
    return beneath.parent_fd >= 0 &&
           ::syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
  };
  if (!allow(folder, kWrites)) return false;
  allow("/dev/null", LANDLOCK_ACCESS_FS_WRITE_FILE);
  return ::syscall(SYS_landlock_restrict_self, set, 0) == 0;
}

void set_limit(int what, std::uint64_t value) {
  const rlimit limit{value, value};
  ::setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

struct Prepared {
  const char* path = nullptr;
  const char* folder = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;
  int out = -1;
  int err = -1;
  int status = -1;
};

[[noreturn]] void become(const Program& program, const Prepared& prepared) {
  const auto tell = [&prepared](char what) {
    [[maybe_unused]] const auto written = ::write(prepared.status, &what, 1);
  };
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(prepared.input, 0);
  ::dup2(prepared.out, 1);
  ::dup2(prepared.err, 2);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  bool moved = ::chdir(prepared.folder) == 0;
  if (program.confined) {
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, static_cast<std::uint64_t>(program.cpu_max.seconds() + 1));
    set_limit(RLIMIT_AS, program.memory_bytes_max);
    set_limit(RLIMIT_FSIZE, program.file_bytes_max);
    set_limit(RLIMIT_NOFILE, 64);
    if (::geteuid() == 0 && ::setgroups(0, nullptr) == 0 &&
        ::setresgid(kNobody, kNobody, kNobody) == 0 &&
        ::setresuid(kNobody, kNobody, kNobody) == 0) {
      tell(nobody);
    }
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (confine_writes(prepared.folder)) tell(landlocked);
    if (forbid_calls()) {
      tell(filtered);
    } else {
      tell(no_filter);
      moved = false;
    }
  }
  if (moved) ::execve(prepared.path, prepared.arguments, prepared.environment);
  tell(no_exec);
  ::_exit(127);
}

// ---- in the parent --------------------------------------------------------------------------

std::string search_path() {
  const char* const path = std::getenv("PATH");
  return path == nullptr || *path == '\0' ? "/usr/local/bin:/usr/bin:/bin" : path;
}

// Whether a stranger may run it: every folder on the way and the file itself.
bool open_to_all(const std::string& path) {
  std::error_code error;
  std::filesystem::path part = std::filesystem::canonical(path, error);
  if (error) return false;
  for (;; part = part.parent_path()) {
    const auto permissions = std::filesystem::status(part, error).permissions();
    if (error ||
        (permissions & std::filesystem::perms::others_exec) == std::filesystem::perms::none) {
      return false;
    }
    if (part == part.root_path()) return true;
  }
}

// `strangers`: user nobody is to run it, who sees less of the disk than we do.
Result<std::string> find_program(const std::string& name, bool strangers) {
  if (name.find('/') != std::string::npos) return std::filesystem::absolute(name).string();
  const std::string places = search_path();
  for (const std::string_view place : split(places, ':')) {
    std::string path = std::string(place) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0 && (!strangers || open_to_all(path))) return path;
  }
  return Error{Code::not_found, format("no program '{}' in PATH{}", name,
                                       strangers ? " that user nobody may run" : "")};
}

Result<int> input_file(std::string_view text) {
  const int fd = ::memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return errno_error("a file for the program's input");
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written <= 0) {
      ::close(fd);
      return errno_error("the program's input");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

// Appends what there is; false at the end of the file.
bool drain(int fd, std::string& into, std::size_t bytes_max, bool& more) {
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    const std::size_t room = bytes_max - std::min(bytes_max, into.size());
    into.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    more = more || static_cast<std::size_t>(got) > room;
  }
}

std::string layers_of(std::string_view status) {
  std::string out;
  const auto add = [&out](std::string_view layer) {
    out += (out.empty() ? "" : ", ") + std::string(layer);
  };
  for (const char layer : status) {
    if (layer == filtered) add("no network");
    if (layer == landlocked) add("writes confined");
    if (layer == nobody) add("user nobody");
  }
  return out;
}

class Watch {
 public:
  Watch(const Program& program, pid_t child, int out, int err)
      : program_(program), child_(child), out_(out), err_(err) {}

  // Until it has ended by itself or by us. Its status stays to be collected, so that the number of
  // its process group is still its own when the group is killed.
  void wait(ProgramEnd& end) {
    const OsClock clock;
    const Instant limit = clock.now() + program_.time_max;
    bool ignored = false;
    for (;;) {
      std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
      ::poll(ends.data(), ends.size(), kPollMs);
      if (out_ >= 0 && !drain(out_, end.out, program_.output_bytes_max, end.too_loud)) out_ = -1;
      if (err_ >= 0 && !drain(err_, end.err, kErrorBytesMax, ignored)) err_ = -1;
      siginfo_t info{};
      const int got =
          ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT);
      if (got == 0 && info.si_pid == child_) break;
      end.out_of_time = clock.now() >= limit;
      if (end.out_of_time || end.too_loud) break;
    }
    ::kill(-child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    if (out_ >= 0) drain(out_, end.out, program_.output_bytes_max, end.too_loud);
    if (err_ >= 0) drain(err_, end.err, kErrorBytesMax, ignored);
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  }

 private:
  const Program& program_;
  pid_t child_;
  int out_;
  int err_;
};

}  // namespace

Result<ProgramEnd> run_program(const Program& program) {
  if (program.command.empty()) return invalid("no program to run");
  ASSIGN_OR_RETURN(const std::string path,
                   find_program(program.command.front(), program.confined && ::geteuid() == 0));
  ASSIGN_OR_RETURN(const int input_fd, input_file(program.input));
  Descriptor input(input_fd);
  Pipe out;
  Pipe err;
  Pipe status;
  TRY(out.open());
  TRY(err.open());
  TRY(status.open());
  std::vector<std::string> words = program.command;
  std::vector<std::string> variables = {"PATH=" + search_path(), "HOME=" + program.folder.string(),
                                        "LANG=C.UTF-8"};
  std::vector<char*> arguments;
  std::vector<char*> environment;
  for (std::string& word : words) arguments.push_back(word.data());
  for (std::string& variable : variables) environment.push_back(variable.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  const std::string folder = program.folder.empty() ? "." : program.folder.string();
  // nobody must be able to work in it.
  if (program.confined && ::geteuid() == 0 && ::chown(folder.c_str(), kNobody, kNobody) != 0) {
    return errno_error(folder);
  }
  const Prepared prepared{path.c_str(), folder.c_str(),  arguments.data(), environment.data(),
                          input.get(),  out.write.get(), err.write.get(),  status.write.get()};
  const pid_t child = ::fork();
  if (child < 0) return errno_error("fork");
  if (child == 0) become(program, prepared);
  for (Descriptor* end : {&out.write, &err.write, &status.write, &input}) end->reset();
  ProgramEnd end;
  Watch(program, child, out.read.get(), err.read.get()).wait(end);
  std::string said;
  bool ignored = false;
  drain(status.read.get(), said, 64, ignored);
  end.layers = layers_of(said);
  if (said.find(no_filter) != std::string::npos) {
    return Error{Code::unsupported,
                 "this kernel gives us no seccomp filter, so code that a model wrote is not run"};
  }
  if (said.find(no_exec) != std::string::npos) {
    return Error{Code::not_found, format("'{}' can't be run", program.command.front())};
  }
  return end;
}

}  // namespace assay::score
