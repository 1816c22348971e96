// The part of a jail that runs in the child: system calls only. Another thread may have held any
// lock at the fork, so nothing here allocates memory, and the bare system call changes users: the C
// library would wait for threads that this process does not have.
#include "score/code/jail.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>

#include <array>
#include <cerrno>

namespace assay::score {
namespace {

constexpr int kLastCapability = 63;
constexpr std::uint64_t kOpenFilesMax = 256;

void set_limit(int what, std::uint64_t value) {
  const rlimit limit{value, value};
  ::setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

[[noreturn]] void give_up(const JailPlan& plan, JailStep step, std::size_t item = 0) {
  tell(plan.status, {.kind = JailWord::failed,
                     .step = step,
                     .item = static_cast<std::uint16_t>(item),
                     .value = errno});
  ::_exit(127);
}

// None is left, and no file can bring one back, since no_new_privs is set.
bool drop_capabilities() {
  for (int one = 0; one <= kLastCapability; ++one) ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

void limit_process(const Program& program) {
  const Jail& jail = *program.jail;
  set_limit(RLIMIT_CORE, 0);
  if (jail.limits_addresses && jail.memory_bytes_max > 0) {
    set_limit(RLIMIT_AS, jail.memory_bytes_max);
  }
  if (jail.processes_max > 0) set_limit(RLIMIT_NPROC, jail.processes_max);
  if (jail.view == Jail::View::disk) return;
  set_limit(RLIMIT_CPU, static_cast<std::uint64_t>(program.time_max.seconds() + 1));
  set_limit(RLIMIT_FSIZE, jail.file_bytes_max);
  set_limit(RLIMIT_NOFILE, kOpenFilesMax);
  set_limit(RLIMIT_MSGQUEUE, 0);
  set_limit(RLIMIT_MEMLOCK, 0);
}

[[noreturn]] void become_command(const JailPlan& plan, std::size_t at) {
  const Program& program = *plan.program;
  const char* const folder = program.jail->view == Jail::View::programs ? kJailWork : nullptr;
  if (!take_place(folder, plan.input, plan.out, plan.err)) give_up(plan, JailStep::view);
  // Close all but the status pipe, which closes itself.
  ::dup2(plan.status, 3);
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  JailPlan own{};
  own.status = 3;
  if (::syscall(SYS_close_range, 4U, ~0U, 0U) != 0) give_up(own, JailStep::privileges);
  const int landlock = lock_writes(plan);
  if (landlock < 0) give_up(own, JailStep::privileges);
  tell(3, {.kind = JailWord::landlock, .value = landlock});
  const sock_fprog filter{static_cast<unsigned short>(plan.filter.size()),
                          const_cast<sock_filter*>(plan.filter.data())};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) give_up(own, JailStep::filter);
  // Set limits last, since this image may already be larger than the program's limit.
  limit_process(program);
  ::execve(plan.view.programs[at].c_str(), plan.commands[at].data(), plan.environment.data());
  give_up(own, JailStep::exec, at);
}

// The first process of the namespace: starts the commands and reaps orphans; its end kills all.
[[noreturn]] void be_first(const JailPlan& plan) {
  JailWord end{.kind = JailWord::ended};
  for (std::size_t at = 0; at < plan.commands.size() && end.value == 0; ++at) {
    const pid_t child = split_process(0);
    if (child < 0) give_up(plan, JailStep::process);
    if (child == 0) become_command(plan, at);
    end.item = static_cast<std::uint16_t>(at + 1);
    for (;;) {
      int status = 0;
      const pid_t got = ::waitpid(-1, &status, __WALL);
      if (got == child) {
        end.value = status;
        break;
      }
      if (got < 0 && errno != EINTR) give_up(plan, JailStep::process);
    }
    // Processes that this command left must not run beside the next one.
    ::kill(-1, SIGKILL);
    while (::waitpid(-1, nullptr, __WALL) > 0 || errno == EINTR) {
    }
  }
  tell(plan.status, end);
  ::_exit(0);
}

[[noreturn]] void enter(const JailPlan& plan) {
  ::close(plan.go_write);
  char ready = 0;
  if (::read(plan.go, &ready, 1) != 1) ::_exit(127);
  ::setsid();
  JailWord failed;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    give_up(plan, JailStep::mounts);
  }
  if (!build_root(plan, failed)) give_up(plan, failed.step, failed.item);
  // Set it after the last change of user, which would clear it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd assay{plan.go, 0, 0};
  if (::poll(&assay, 1, 0) != 0) ::_exit(127);  // Assay has already ended
  if (!drop_capabilities()) give_up(plan, JailStep::privileges);
  be_first(plan);
}

// ---- Landlock: constants that these headers may lack -----------------------------------------

struct Rules {
  std::uint64_t files = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};

constexpr std::uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                  LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;        // version 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;     // 3
constexpr std::uint64_t kTcp = 3;                               // 4: bind and connect
constexpr std::uint64_t kDeviceCalls = std::uint64_t{1} << 15;  // 5
constexpr std::uint64_t kScopes = 3;  // 6: abstract sockets and signals stay inside
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceCalls;

Rules rules_of(long version, const Jail& jail) {
  Rules rules{.files = kWrites};
  if (version >= 2) rules.files |= kRefer;
  if (version >= 3) rules.files |= kTruncate;
  if (version >= 4 && !jail.network) rules.net = kTcp;
  if (version >= 5) rules.files |= kDeviceCalls;
  if (version >= 6) rules.scoped = kScopes;
  return rules;
}

bool let_write(int set, const char* path, std::uint64_t access) {
  landlock_path_beneath_attr beneath{};
  beneath.parent_fd = ::open(path, O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0) return false;
  struct stat about {};
  if (::fstat(beneath.parent_fd, &about) == 0 && !S_ISDIR(about.st_mode)) access &= kOfFiles;
  beneath.allowed_access = access;
  return ::syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
}

}  // namespace

pid_t split_process(std::uint64_t namespaces) {
  return static_cast<pid_t>(::syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0));
}

void tell(int status, const JailWord& word) {
  [[maybe_unused]] const auto written = ::write(status, &word, sizeof(word));
}

bool take_place(const char* folder, int input, int out, int err) {
  ::dup2(input, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int one : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(one, SIG_DFL);
  return folder == nullptr || ::chdir(folder) == 0;
}

int lock_writes(const JailPlan& plan) {
  constexpr unsigned kAskVersion = 1;
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  if (version <= 0) return 0;
  const Rules rules = rules_of(version, *plan.program->jail);
  const std::size_t size = sizeof(std::uint64_t) * (version >= 6 ? 3 : version >= 4 ? 2 : 1);
  const auto set = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (set < 0) return -1;
  for (const std::string& path : plan.view.writable) {
    if (!let_write(set, path.c_str(), rules.files)) return -1;
  }
  if (!plan.view.whole_disk) let_write(set, "/dev/null", rules.files);
  if (::syscall(SYS_landlock_restrict_self, set, 0) != 0) return -1;
  ::close(set);
  return static_cast<int>(version);
}

pid_t split_into_jail(const JailPlan& plan) {
  std::uint64_t spaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  if (!plan.program->jail->network) spaces |= CLONE_NEWNET;
  const pid_t child = split_process(spaces);
  if (child == 0) enter(plan);
  return child;
}

}  // namespace assay::score
