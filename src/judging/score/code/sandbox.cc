#include "score/code/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/format.h"
#include "base/text.h"
#include "score/code/jail.h"

namespace assay::score {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMs = 20;
constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10;

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
  Result<void> open(bool waits = false) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error("a pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    if (!waits) ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
    return {};
  }
};

// The three streams of a program and its status pipe.
struct Streams {
  Descriptor input{};
  Pipe out{};
  Pipe err{};
  Pipe status{};

  // A file instead of a pipe: writing never waits for a program that does not read. It is sealed.
  Result<void> open(std::string_view text) {
    TRY(out.open());
    TRY(err.open());
    TRY(status.open());
    input.reset(::memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (input.get() < 0) return errno_error("a file for the program's input");
    while (!text.empty()) {
      const ssize_t written = ::write(input.get(), text.data(), text.size());
      if (written <= 0) return errno_error("the program's input");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(input.get(), 0, SEEK_SET);
    if (::fcntl(input.get(), F_ADD_SEALS,
                F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
      return errno_error("the program's input");
    }
    return {};
  }
  void leave_to_child() {
    for (Descriptor* end : {&out.write, &err.write, &status.write, &input}) end->reset();
  }
};

// Appends the available bytes; returns false at the end of the file. `more`: some were dropped.
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

std::string command_line_of(const std::string& pid) {
  std::ifstream line("/proc/" + pid + "/cmdline");
  std::ostringstream out;
  out << line.rdbuf();  // the process may have ended; an iterator of the buffer would throw
  return out.str();
}

// Resident memory of all processes that a program started. A child that is still a copy of ours
// before its exec shares our memory and has none of its own.
std::uint64_t resident_bytes(const std::string& pid, const std::string& ours) {
  std::uint64_t resident = 0;
  std::error_code error;
  for (fs::directory_iterator it("/proc/" + pid + "/task", error), end; !error && it != end;
       it.increment(error)) {
    std::ifstream children(it->path() / "children");
    for (std::string child; children >> child;) {
      std::ifstream memory("/proc/" + child + "/statm");
      std::uint64_t all = 0;
      std::uint64_t pages = 0;
      memory >> all >> pages;
      if (command_line_of(child) != ours) {
        resident += pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
      }
      resident += resident_bytes(child, ours);
    }
  }
  return resident;
}

class Watch {
 public:
  Watch(const Program& program, pid_t child, const Streams& streams)
      : program_(program),
        child_(child),
        out_(streams.out.read.get()),
        err_(streams.err.read.get()) {}

  // Waits until the program ends or is killed; returns the status of wait(). The status is not
  // collected yet, so the process number still belongs to it when it is killed.
  int wait(ProgramEnd& end) {
    const Instant limit = clock_.now() + program_.time_max;
    for (;;) {
      std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
      ::poll(ends.data(), ends.size(), kPollMs);
      read(end);
      siginfo_t info{};
      const int got =
          ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT);
      if (got == 0 && info.si_pid == child_) break;
      end.out_of_time = clock_.now() >= limit;
      end.out_of_memory = over_memory();
      if (end.out_of_time || end.too_loud || end.out_of_memory) break;
    }
    // The first of its namespace, or the leader of its group: the others are killed with it.
    ::kill(program_.jail ? child_ : -child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    read(end);
    return status;
  }

 private:
  void read(ProgramEnd& end) {
    bool ignored = false;
    if (out_ >= 0 && !drain(out_, end.out, program_.output_bytes_max, end.too_loud)) out_ = -1;
    if (err_ >= 0 && !drain(err_, end.err, kErrorBytesMax, ignored)) err_ = -1;
  }
  bool over_memory() {
    if (!program_.jail || program_.jail->memory_bytes_max == 0) return false;
    const Instant now = clock_.now();
    if (now < next_look_) return false;
    next_look_ = now + Duration::from_seconds(kPollMs / 1000.0);
    return resident_bytes(std::to_string(child_), ours_) > program_.jail->memory_bytes_max;
  }

  const Program& program_;
  pid_t child_;
  int out_;
  int err_;
  OsClock clock_{};
  Instant next_look_{};
  std::string ours_ = command_line_of("self");
};

void take_status(int status, ProgramEnd& end) {
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
}

std::string system_places() {
  const char* const path = std::getenv("PATH");
  return path == nullptr || *path == '\0' ? "/usr/local/bin:/usr/bin:/bin" : path;
}

std::vector<std::string> environment_of(const std::string& path, const std::string& home) {
  return {"PATH=" + path, "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8"};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// ---- a program in a jail --------------------------------------------------------------------

std::string_view layer_of(JailStep step) {
  switch (step) {
    case JailStep::namespaces:
      return "namespaces of its own (user, PID, mount, IPC, network)";
    case JailStep::user:
      return "a user of its own";
    case JailStep::mounts:
      return "a tree of files of its own";
    case JailStep::view:
      return "the files that it needs";
    case JailStep::pivot:
      return "a root of its own";
    case JailStep::privileges:
      return "an end to its privileges";
    case JailStep::process:
      return "a process of its own";
    case JailStep::filter:
      return "a filter of system calls (seccomp)";
    case JailStep::exec:
      return "its program";
  }
  return "";
}

constexpr const char* kRemedy =
    "\n  it needs Linux 5.14 or newer with user namespaces for this user: sysctl"
    " user.max_user_namespaces above 0,\n  kernel.unprivileged_userns_clone=1 (Debian),"
    " kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu);\n  in a container: --security-opt"
    " seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined";

Error jail_error(const JailWord& word, const JailView& view) {
  std::string where;
  if (word.step == JailStep::view && word.item < view.binds.size()) {
    where = format(" ({})", view.binds[word.item].from);
  }
  if (word.step == JailStep::exec) {
    return {Code::not_found,
            format("'{}' can't be run: {}", view.programs[word.item], std::strerror(word.value))};
  }
  return {Code::unsupported,
          format("not run: this machine does not give a jail {}{}: {}{}", layer_of(word.step),
                 where, std::strerror(word.value), word.step == JailStep::view ? "" : kRemedy)};
}

std::string layers_of(const Jail& jail, int landlock) {
  std::string out = "own PID, mount, IPC and user namespaces";
  out += jail.network ? "" : ", no network";
  out += jail.view == Jail::View::programs ? ", sees programs only" : ", disk read-only";
  out += ", no capabilities, system calls filtered";
  out += landlock > 0 ? format(", Landlock {}", landlock) : ", no Landlock";
  return out;
}

// Reads the child's messages. Fails if the child did not start its program.
Result<void> read_status(int pipe, const JailPlan& plan, ProgramEnd& end) {
  std::string said;
  bool ignored = false;
  drain(pipe, said, 4096, ignored);
  int landlock = 0;
  for (std::size_t at = 0; at + sizeof(JailWord) <= said.size(); at += sizeof(JailWord)) {
    JailWord word;
    std::memcpy(&word, said.data() + at, sizeof(word));
    switch (word.kind) {
      case JailWord::failed:
        return jail_error(word, plan.view);
      case JailWord::landlock:
        landlock = word.value;
        break;
      case JailWord::ended:
        end.commands_ran = word.item;
        end.signal = 0;
        end.exit_code = -1;
        take_status(word.value, end);
        break;
    }
  }
  end.layers = layers_of(*plan.program->jail, landlock);
  return {};
}

bool write_text(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.get() >= 0 &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A model's code runs as user kNobody (the default); an evaluator keeps the user's identity.
void choose_users(const Program& program, JailPlan& plan) {
  plan.drops_groups = ::geteuid() == 0;
  if (program.jail->view == Jail::View::programs) return;
  plan.inner_user = ::geteuid();
  plan.inner_group = ::getegid();
}

Result<ProgramEnd> run_jailed(const Program& program) {
  JailPlan plan{.program = &program};
  ASSIGN_OR_RETURN(plan.view, jail_view(program));
  plan.filter = jail_filter(*program.jail);
  auto commands = program.commands;
  for (auto& words : commands) plan.commands.push_back(pointers(words));
  const bool own = program.jail->view == Jail::View::programs;
  auto variables = environment_of(plan.view.search_path, own ? kJailWork : program.folder.string());
  plan.environment = pointers(variables);
  plan.trees.resize(plan.view.binds.size(), -1);
  plan.work_options = format("size={},nr_inodes=16384,mode=0700", program.jail->disk_bytes_max);
  choose_users(program, plan);
  Streams streams;
  Pipe go;
  TRY(streams.open(program.input));
  TRY(go.open(true));
  plan.input = streams.input.get();
  plan.out = streams.out.write.get();
  plan.err = streams.err.write.get();
  plan.status = streams.status.write.get();
  plan.go = go.read.get();
  plan.go_write = go.write.get();
  const pid_t child = split_into_jail(plan);
  if (child < 0) return jail_error({.step = JailStep::namespaces, .value = errno}, plan.view);
  streams.leave_to_child();
  go.read.reset();
  ProgramEnd end;
  const Result<void> mapped = write_user_maps(child, plan);
  if (mapped) [[maybe_unused]]
    const auto told = ::write(go.write.get(), "", 1);
  if (!mapped) ::kill(child, SIGKILL);
  take_status(Watch(program, child, streams).wait(end), end);
  if (!mapped) return mapped.error();
  TRY(read_status(streams.status.read.get(), plan, end));
  return end;
}

// ---- a program of the user's own, run with the user's rights ----------------------------------

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return fs::absolute(name).string();
  const std::string places = system_places();
  for (const std::string_view place : split(places, ':')) {
    std::string path = std::string(place) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return Error{Code::not_found, format("no program '{}' in PATH", name)};
}

Result<ProgramEnd> run_plain(const Program& program) {
  if (program.commands.size() != 1 || program.commands.front().empty()) {
    return invalid("no program to run");
  }
  auto words = program.commands.front();
  ASSIGN_OR_RETURN(const std::string path, find_program(words.front()));
  const std::string folder = program.folder.empty() ? "." : program.folder.string();
  auto variables = environment_of(system_places(), program.folder.string());
  const auto arguments = pointers(words);
  const auto environment = pointers(variables);
  Streams streams;
  TRY(streams.open(program.input));
  const pid_t child = ::fork();
  if (child < 0) return errno_error("fork");
  if (child == 0) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (take_place(folder.c_str(), streams.input.get(), streams.out.write.get(),
                   streams.err.write.get())) {
      ::execve(path.c_str(), arguments.data(), environment.data());
    }
    tell(streams.status.write.get(), {.step = JailStep::exec, .value = errno});
    ::_exit(127);
  }
  streams.leave_to_child();
  ProgramEnd end;
  take_status(Watch(program, child, streams).wait(end), end);
  end.commands_ran = 1;
  std::string said;
  bool ignored = false;
  drain(streams.status.read.get(), said, sizeof(JailWord), ignored);
  if (!said.empty()) {
    return Error{Code::not_found, format("'{}' can't be run", program.commands.front().front())};
  }
  return end;
}

}  // namespace

// The child's own user namespace has one user and one group. On this machine they are kNobody (if
// we are root) or our own.
Result<void> write_user_maps(pid_t child, const JailPlan& plan) {
  const bool stays = plan.inner_user != kNobody;
  const bool root = ::geteuid() == 0;
  const unsigned user = root && !stays ? kNobody : ::geteuid();
  const unsigned group = root && !stays ? kNobody : ::getegid();
  const std::string place = format("/proc/{}/", child);
  const bool written = (root || write_text(place + "setgroups", "deny")) &&
                       write_text(place + "uid_map", format("{} {} 1", plan.inner_user, user)) &&
                       write_text(place + "gid_map", format("{} {} 1", plan.inner_group, group));
  if (written) return {};
  return jail_error({.step = JailStep::user, .value = errno}, plan.view);
}

Result<ProgramEnd> run_program(const Program& program) {
  return program.jail ? run_jailed(program) : run_plain(program);
}

Result<void> probe_jail(const Jail& jail) {
  ASSIGN_OR_RETURN(const ProgramEnd end, run_program({.commands = {{"true"}}, .jail = jail}));
  if (end.exit_code == 0) return {};
  return Error{Code::unsupported,
               format("not run: a jail of this machine does not even run 'true': {}", end.err)};
}

}  // namespace assay::score
