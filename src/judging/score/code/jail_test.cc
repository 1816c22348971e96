// The escape suite: what a model's code may try against this machine and its own score. Every
// attempt runs as an ordinary user and, if the test is root, as root too. An attempt prints ESCAPED
// when it succeeded; the test checks from outside for traces. Attempts marked `works` also run
// without a jail and must succeed there: they are real.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/testing_temp_folder.h"
#include "score/code/code_judge.h"
#include "score/code/program_judge.h"
#include "score/code/sandbox.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOrdinary = 4242;

// Runs `act` in a process of its own, whose limits end with it, and returns its text. If the test
// is root, that process belongs to `user`, else to the test's own user.
std::string as_user(unsigned user, const std::function<std::string()>& act) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::string said = "cannot become the user";
    const bool stays = ::geteuid() != 0 || user == 0;
    if (stays || (::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
                  ::setresuid(user, user, user) == 0)) {
      // As for a program that the user started: his processes may read it.
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      said = act();
    }
    [[maybe_unused]] const auto wrote = ::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    said.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? said : "killed";
}

std::vector<unsigned> users() {
  if (::geteuid() == 0) return {0, kOrdinary};
  return {::geteuid()};
}

// A user's folder with a file that code wants, and a listening socket.
class Victim {
 public:
  explicit Victim(unsigned user) {
    ::chmod(folder_.path().c_str(), 0777);
    fs::create_directory(folder_.path() / ".ssh");
    for (const char* name : {"data.jsonl", ".ssh/id_rsa"}) {
      std::ofstream(folder_.path() / name) << "SECRET-OF-THE-USER";
      ::chmod((folder_.path() / name).c_str(), 0666);
      if (::geteuid() == 0) {
        EXPECT_EQ(::chown((folder_.path() / name).c_str(), user, user), 0);
      }
    }
    before_ = state();
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof(any));
    ::listen(listener_, 8);
    socklen_t size = sizeof(any);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
  }
  ~Victim() { ::close(listener_); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  std::string file() const { return (folder_.path() / "data.jsonl").string(); }
  bool untouched() const { return state() == before_; }

  // Defines names for the attempts.
  std::string preamble() const {
    return format(
        "import ctypes, errno, os, resource, signal, socket, struct, sys, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*args):\n"
        "    return libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in args))\n"
        "def got(yes=True):\n"
        "    if yes: os.write(1, b'ESCAPED\\n')\n"
        "VICTIM, FOLDER, PORT, HOST = '{}', '{}', {}, {}\n",
        file(), folder_.path().string(), port_, ::getpid());
  }

 private:
  // Everything that an attempt could change: content, mode, times, attributes, names beside it.
  std::string state() const {
    std::string out;
    for (const fs::path& path : {folder_.path() / "data.jsonl", folder_.path() / ".ssh/id_rsa"}) {
      struct stat about {};
      if (::stat(path.c_str(), &about) != 0) return "gone";
      std::array<char, 256> names{};
      const ssize_t attributes = ::listxattr(path.c_str(), names.data(), names.size());
      out += format("{} {:o} {} {} {} {};", read_file(path).value_or(""), about.st_mode,
                    about.st_uid, about.st_nlink, about.st_mtime, attributes);
    }
    return out;
  }

  TempFolder folder_{};
  std::string before_{};
  int listener_ = -1;
  int port_ = 0;
};

struct Attempt {
  std::string name{};
  std::string code{};
  bool works = false;  // without a jail
  bool alone = false;  // ends attempts that run beside it
};

std::vector<Attempt> attempts_on_files() {
  return {
      {"truncate", "os.truncate(VICTIM, 0); got()", true},
      {"chmod", "os.chmod(VICTIM, 0); got()", true},
      {"utime", "os.utime(VICTIM, (1, 1)); got()", true},
      {"setxattr", "os.setxattr(VICTIM, 'user.x', b'y'); got()", true},
      {"append", "open(VICTIM, 'a').write('x'); got()", true},
      {"unlink", "os.unlink(VICTIM); got()", true},
      {"rename", "os.rename(VICTIM, VICTIM + '.mine'); got()", true},
      {"link", "os.link(VICTIM, FOLDER + '/mine'); got()", true},
      {"read_the_dataset", "got('SECRET' in open(VICTIM).read())", true},
      {"read_ssh", "got('SECRET' in open(FOLDER + '/.ssh/id_rsa').read())", true},
      {"read_accounts", "got('root' in open('/etc/passwd').read())", true},
      // A language in a home folder is visible, with the folders on the way to it.
      {"list_home_folders",
       "homes, prefix = [h for h in ('/root', '/home') if os.path.isdir(h)], sys.base_prefix\n"
       "for folder, below, files in (one for h in homes for one in os.walk(h)):\n"
       "    if folder == prefix: below.clear()\n"
       "    elif files or not prefix.startswith(folder + '/'): got()",
       true},
      {"symlink", "os.symlink(VICTIM, 'link')\nopen('link', 'w').write('x'); got()", true},
      {"symlink_to_root", "os.symlink('/', 'r')\ngot(os.path.exists('r' + VICTIM))", true},
      {"dot_dot", "got(os.path.exists('../' * 40 + VICTIM.lstrip('/')))", true},
      {"write_to_programs", "open('/usr/bin/assay-was-here', 'w'); got()"},
      {"write_to_root", "open('/assay-was-here', 'w'); got()"},
      {"write_to_shared_memory", "open('/dev/shm/assay-was-here', 'w'); got()"},
      {"devices",
       "got(any(n not in ('null', 'zero', 'full', 'random', 'urandom', 'stdin',"
       " 'stdout') for n in os.listdir('/dev')))",
       true},
      {"dataset_by_proc",
       "for p in os.listdir('/proc'):\n"
       "    if p.isdigit() and os.path.exists(f'/proc/{p}/root' + VICTIM): got(); break",
       true},
      {"memory_by_proc", "open(f'/proc/{os.getppid()}/mem', 'rb'); got()"},
      {"command_lines", "got(open('/proc/1/cmdline').read() != '')", true},
      {"system_settings", "got(any(os.path.exists(p) for p in ('/sys/kernel', '/proc/sys')))",
       true},
      {"handle", format("got(call({}, -100, b'/', ctypes.create_string_buffer(200),"
                        " ctypes.byref(ctypes.c_int()), 0) == 0)",
                        SYS_name_to_handle_at)},
      {"device_node", "os.mknod('disk', 0o60666, os.makedev(254, 0)); got()"},
      {"our_own_program",
       format("got(os.path.exists({}))", "'" + fs::read_symlink("/proc/self/exe").string() + "'"),
       true},
  };
}

std::vector<Attempt> attempts_on_the_kernel() {
  const auto number = [](const char* name, long call, const char* arguments) {
    return Attempt{name, format("got(call({}, {}) >= 0)", call, arguments)};
  };
  return {
      number("unshare_users", SYS_unshare, "0x10000000"),
      number("unshare_mounts", SYS_unshare, "0x00020000"),
      {"clone_users",
       format("pid = call({}, 0x10000011, 0, 0, 0, 0)\n"
              "if pid == 0: os._exit(0)\n"
              "got(pid > 0)",
              SYS_clone),
       true},
      {"clone3", format("call({}, ctypes.create_string_buffer(88), 88)\n"
                        "got(ctypes.get_errno() != errno.ENOSYS)",
                        SYS_clone3)},
      {"setns", "got(libc.setns(os.open('/', os.O_RDONLY), 0) == 0)"},
      number("mount", SYS_mount, "b'none', b'/jail', b'tmpfs', 0, 0"),
      number("bind_mount", SYS_mount, "b'/', b'/jail', 0, 4096, 0"),
      number("remount", SYS_mount, "0, b'/', 0, 4096 | 32, 0"),
      number("umount", SYS_umount2, "b'/usr', 2"),
      number("open_tree", SYS_open_tree, "-100, b'/', 1"),
      number("fsopen", SYS_fsopen, "b'proc', 0"),
      number("pivot_root", SYS_pivot_root, "b'/jail', b'/jail'"),
      {"chroot", "os.chroot('/jail'); got()"},
      {"become_root", "os.setuid(0); got()"},
      {"setuid_program",
       "import subprocess\n"
       "got(b'uid=0' in subprocess.run(['su', '-c', 'id'], stdin=0,"
       " capture_output=True).stdout)"},
      {"capability", "got(libc.prctl(24, 21, 0, 0, 0) == 0 and libc.prctl(23, 21, 0, 0, 0) == 1)"},
      number("ptrace", SYS_ptrace, "16, os.getppid(), 0, 0"),
      number("trace_me", SYS_ptrace, "0, 0, 0, 0"),
      {"read_a_process",
       format("b = ctypes.create_string_buffer(8)\n"
              "v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8)\n"
              "got(call({}, os.getpid(), v, 1, v, 1, 0) >= 0)",
              SYS_process_vm_readv),
       true},
      {"memfd", "os.memfd_create('x'); got()", true},
      number("execveat", SYS_execveat, "-100, b'/bin/true', 0, 0, 0"),
      {"run_own_file",
       "import shutil, subprocess\n"
       "shutil.copy('/bin/true', 'own'); os.chmod('own', 0o755)\n"
       "got(subprocess.run(['./own']).returncode == 0)"},
      number("io_uring", SYS_io_uring_setup, "1, ctypes.create_string_buffer(200)"),
      number("keyring", SYS_keyctl, "0, -3, 1"),
      number("add_key", SYS_add_key, "b'user', b'x', b'y', 1, -3"),
      number("bpf", SYS_bpf, "0, ctypes.create_string_buffer(128), 128"),
      number("userfaultfd", SYS_userfaultfd, "1"),
      number("perf", SYS_perf_event_open, "ctypes.create_string_buffer(128), 0, -1, -1, 0"),
      number("personality", SYS_personality, "0x0040000"),
      number("host_name", SYS_sethostname, "b'mine', 4"),
      {"calls_of_newer_kernels",
       "for n in range(451, 480):\n"
       "    ctypes.set_errno(0)\n"
       "    call(n, 0, 0, 0, 0, 0, 0)\n"
       "    if ctypes.get_errno() != errno.ENOSYS: got()"},
      {"raise_a_limit", "resource.setrlimit(resource.RLIMIT_NPROC, (99999, 99999)); got()"},
  };
}

std::vector<Attempt> attempts_on_others() {
  return {
      {"loopback", "socket.create_connection(('127.0.0.1', PORT), 1); got()", true},
      {"loopback6", "socket.socket(socket.AF_INET6).bind(('::1', 0)); got()"},
      {"abstract_socket", "socket.socket(socket.AF_UNIX).bind('\\0assay-was-here'); got()", true},
      {"netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); got()", true},
      {"socketpair", "socket.socketpair(); got()", true},
      {"kill_us", "os.kill(HOST, 0); got()", true},
      {"kill_the_parent", "os.kill(os.getppid(), 9)\nif os.getppid() != 1: got()", false, true},
      {"stop_the_parent", "os.kill(os.getppid(), 19)", false, true},
      {"kill_all", "os.kill(-1, 9)", false, true},
      {"kill_group", "os.kill(0, 9)", false, true},
      {"leave_the_session", "os.setsid(); got()"},
      {"see_processes", "got(os.getpid() > 60)"},
      {"shared_memory", format("got(call({}, 0x4153, 1 << 20, 0o1666) >= 0)", SYS_shmget)},
      {"semaphores", format("got(call({}, 0x4153, 1, 0o1666) >= 0)", SYS_semget)},
      {"messages", format("got(call({}, 0x4153, 0o1666) >= 0)", SYS_msgget)},
      {"message_queue", format("got(call({}, b'assay', 66, 0o666, 0) >= 0)", SYS_mq_open)},
      {"descriptors",
       "for n in range(3, 256):\n"
       "    try: os.fstat(n)\n"
       "    except OSError: continue\n"
       "    got()"},
      {"environment", "got('ASSAY_TEST_SECRET' in os.environ)"},
      {"write_to_the_input", "os.write(0, b'x'); got()"},
      {"truncate_the_input", "os.ftruncate(0, 1 << 20); got()"},
      {"type_for_the_user", "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSTI, b'x'); got()"},
      {"core_dump", "got(resource.getrlimit(resource.RLIMIT_CORE)[1] != 0)"},
  };
}

Program attempt_of(const std::string& code, Jail jail = {}) {
  return {.commands = {{"python3", "-I", "-S", "-c", code}},
          .time_max = 20_s,
          .output_bytes_max = 100'000,
          .jail = std::move(jail)};
}

// Runs all attempts in one jail, each in its own process; names those that escaped.
std::string batch(const std::vector<Attempt>& attempts) {
  std::string out;
  for (const Attempt& attempt : attempts) {
    out += format(
        "if os.fork() == 0:\n"
        "    try: exec({})\n"
        "    except BaseException: pass\n"
        "    os._exit(0)\n"
        "try: os.wait()\n"
        "except ChildProcessError: pass\n"
        "os.write(1, b'{} was tried\\n')\n",
        Json(attempt.code).dump(), attempt.name);
  }
  return out;
}

void try_in_jail(unsigned user, const std::vector<Attempt>& attempts) {
  const Victim victim(user);
  const bool alone = attempts.size() == 1;
  const std::string code = victim.preamble() + (alone ? attempts.front().code : batch(attempts));
  const std::string said = as_user(user, [&] {
    const auto end = run_program(attempt_of(code));
    return end ? end->out + format("[{} {}]", end->exit_code, end->signal) : end.error().message;
  });
  EXPECT_EQ(said.find("ESCAPED"), std::string::npos) << "user " << user << "\n" << said;
  EXPECT_TRUE(said.ends_with("]")) << said;
  EXPECT_TRUE(alone || said.find(attempts.back().name + " was tried") != std::string::npos) << said;
  EXPECT_TRUE(victim.untouched()) << "user " << user << "\n" << said;
}

void try_without_jail(const Attempt& attempt) {
  const Victim victim(::geteuid());
  Program free = attempt_of(victim.preamble() + attempt.code);
  free.jail.reset();
  const TempFolder folder;
  free.folder = folder.path();
  const auto end = run_program(free);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_NE(end->out.find("ESCAPED"), std::string::npos)
      << attempt.name << " is no attempt: " << end->err;
}

void try_all(const std::vector<Attempt>& attempts) {
  ::setenv("ASSAY_TEST_SECRET", "x", 1);
  std::vector<Attempt> together;
  for (const Attempt& attempt : attempts) {
    if (attempt.works) try_without_jail(attempt);
    if (!attempt.alone) together.push_back(attempt);
  }
  for (const unsigned user : users()) {
    try_in_jail(user, together);
    for (const Attempt& attempt : attempts) {
      if (attempt.alone) try_in_jail(user, {attempt});
    }
  }
}

// Counts this machine's processes whose command line has `mark`.
std::size_t alive(std::string_view mark) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream line(entry.path() / "cmdline");
    std::ostringstream text;
    text << line.rdbuf();
    count += text.str().find(mark) != std::string::npos ? 1U : 0U;
  }
  return count;
}

ProgramEnd limited(const std::string& code, Jail jail, Duration time_max = 20_s) {
  Program program = attempt_of("import os, signal, sys\n" + code, std::move(jail));
  program.time_max = time_max;
  const auto end = run_program(program);
  EXPECT_TRUE(end) << end.error().message;
  return end ? *end : ProgramEnd{};
}

TEST(Jail, no_way_to_the_users_files) { try_all(attempts_on_files()); }
TEST(Jail, no_way_by_the_kernel) { try_all(attempts_on_the_kernel()); }
TEST(Jail, no_way_to_others) { try_all(attempts_on_others()); }

TEST(Jail, a_fork_bomb_stops_at_the_limit_and_leaves_nobody) {
  const auto end = limited(
      "mark, n = 'fork-bomb-of-the-suite', 0\n"
      "try:\n"
      "    while True:\n"
      "        if os.fork() == 0: signal.pause()\n"
      "        n += 1\n"
      "except OSError: print(n)\n",
      {.processes_max = 20});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_GT(std::atoi(end.out.c_str()), 5);
  EXPECT_LE(std::atoi(end.out.c_str()), 20);
  EXPECT_EQ(alive("fork-bomb-of-the-suite"), 0U);
}

TEST(Jail, what_ran_out_of_time_leaves_no_orphan) {
  const auto end = limited(
      "mark = 'orphan-of-the-suite'\n"
      "if os.fork() == 0:\n"
      "    if os.fork() == 0: signal.pause()\n"
      "    os._exit(0)\n"
      "signal.pause()\n",
      {}, 500_ms);
  EXPECT_TRUE(end.out_of_time);
  EXPECT_EQ(alive("orphan-of-the-suite"), 0U);
}

TEST(Jail, the_disk_is_bounded_as_a_whole) {
  const auto end = limited(
      "n = 0\n"
      "try:\n"
      "    for i in range(60):\n"
      "        with open(str(i), 'wb', 0) as f:\n"
      "            for _ in range(64): n += f.write(bytes(1 << 16))\n"
      "except OSError: pass\n"
      "print(n)\n",
      {.disk_bytes_max = 8 << 20});
  EXPECT_GT(std::atoi(end.out.c_str()), 4 << 20) << end.err;
  EXPECT_LE(std::atoi(end.out.c_str()), 8 << 20);
}

TEST(Jail, one_file_is_bounded) {
  const auto end =
      limited("with open('x', 'wb') as f: f.write(bytes(4 << 20))", {.file_bytes_max = 1 << 20});
  EXPECT_NE(end.exit_code, 0);
}

TEST(Jail, memory_is_bounded_over_all_processes) {
  // Each process is below the limit.
  const auto end = limited(
      "mine = []\n"
      "for i in range(5):\n"
      "    if os.fork() == 0: mine = bytearray(os.urandom(1)) * (80 << 20); signal.pause()\n"
      "signal.pause()\n",
      {.memory_bytes_max = std::uint64_t{200} << 20});
  EXPECT_TRUE(end.out_of_memory);
  const auto one = limited("x = bytearray(300 << 20)", {.memory_bytes_max = 200U << 20});
  EXPECT_NE(one.err.find("MemoryError"), std::string::npos) << one.err;
}

TEST(Jail, what_we_hold_in_memory_ourselves_does_not_count) {
  const std::string mine(std::size_t{300} << 20, 'x');
  const auto end = limited("x = bytearray(os.urandom(1)) * (20 << 20)\nprint(len(x))",
                           {.memory_bytes_max = std::uint64_t{200} << 20});
  EXPECT_FALSE(end.out_of_memory);
  EXPECT_EQ(end.out, "20971520\n") << end.err << mine.size();
}

TEST(Jail, says_why_where_a_layer_cannot_be_had) {
  // The same as a machine that forbids them: no more namespaces for this user.
  const std::string said = as_user(kOrdinary, [] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    const auto end = probe_jail(Jail{});
    return end ? "it ran" : end.error().message;
  });
  EXPECT_NE(said.find("not run: this machine does not give a jail"), std::string::npos) << said;
  EXPECT_NE(said.find("user.max_user_namespaces"), std::string::npos) << said;
}

// ---- the score -------------------------------------------------------------------------------

Result<bool> mbxp(std::string_view language, std::string_view reply, std::string_view tests,
                  double seconds) {
  ASSIGN_OR_RETURN(const auto judge, ProgramJudge::make(Json().set("timeout_s", seconds)));
  return judge->passes(language, "f", reply, tests);
}

void expect_judged(std::string_view language, std::string_view reply, std::string_view tests,
                   bool right) {
  // Right code gets a long time limit; some wrong code waits for ever.
  const auto passed = mbxp(language, reply, tests, right ? 120 : 3);
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_EQ(*passed, right) << language << ": " << reply;
}

constexpr const char* kPythonTests = R"(
import math
METADATA = {}
def check(candidate):
    assert candidate([3, 1, 2]) == [1, 2, 3]
    assert candidate([]) == [] and len(candidate((2, 1))) == 2
)";

TEST(Score, python_that_is_right_passes) {
  expect_judged("python", "def f(x):\n    return sorted(x)", kPythonTests, true);
  expect_judged("python", "def f(x):\n    print('noise')\n    return sorted(x)", kPythonTests,
                true);
  expect_judged("python", "f = lambda x: sorted(x)\nif __name__ == '__main__': 1 / 0\n",
                kPythonTests, true);
}

TEST(Score, tests_reach_whatever_the_reply_made) {
  const char* const reply =
      "import collections, datetime, decimal, math\n"
      "class Pair:\n"
      "    def __init__(self, a, b): self.a, self.b = a, b\n"
      "    def swap(self): return Pair(self.b, self.a)\n"
      "def f(what, *more, key=None):\n"
      "    if what == 'pair': return more[0].a + more[0].b\n"
      "    if what == 'same': return key\n"
      "    if what == 'append': more[0].append(1)\n"
      "    if what == 'rows': return (i * i for i in range(3))\n"
      "    if what == 'count': return collections.Counter('aab')\n"
      "    if what == 'raise': raise ValueError('no')\n"
      "    return Pair(1, 2)\n";
  const char* const tests =
      "def check(candidate):\n"
      "    assert candidate('pair', Pair(2, 3).swap()) == 5\n"
      "    for one in (None, True, 2**200, -0.5, 'a\\u2028\\ud800', b'x', (1, [2, {3}]),\n"
      "                {(1,): {}}, 1j, range(3), frozenset([1]), float('inf')):\n"
      "        got = candidate('same', key=one)\n"
      "        assert got == one and type(got) is type(one)\n"
      "    mine = []\n"
      "    candidate('append', mine)\n"
      "    assert mine == [1]\n"
      "    assert list(candidate('rows')) == [0, 1, 4]\n"
      "    assert candidate('count') == {'a': 2, 'b': 1}\n"
      "    assert math.isclose(candidate('other').b, 2.0)\n"
      "    try: candidate('raise')\n"
      "    except ValueError as error: assert str(error) == 'no'\n"
      "    else: assert False\n";
  expect_judged("python", reply, tests, true);
}

TEST(Score, python_cannot_forge_a_pass) {
  for (const char* const reply : {
           "import os\nos._exit(0)",
           "import sys\nsys.exit(0)",
           "raise SystemExit",
           "import os\ndef f(x): os._exit(0)",
           "def f(x): raise SystemExit(0)",
           "class All:\n    def __eq__(self, other): return True\n    def __len__(self): return 2\n"
           "def f(x): return All()",
           "class All(list):\n    def __eq__(self, other): return True\ndef f(x): return All()",
           "def check(candidate): pass\ndef f(x): pass",
           "import builtins\nbuiltins.AssertionError = ZeroDivisionError\n"
           "builtins.len = lambda x: 2\ndef len(x): return 2\ndef f(x): return 1",
           "import os, signal\nos.kill(os.getppid(), 9)\ndef f(x): pass",
           "import os\nfor n in range(256):\n    try: os.write(n, b'\\n' + os.read(n, 999))\n"
           "    except OSError: pass\ndef f(x): pass",
           "import gc, os, sys\nos.write(1, repr(gc.get_objects()).encode())\ndef f(x): pass",
           "import sys\nsys.settrace(lambda *a: None)\ndef f(x): return 1",
           "def f(x): return [1, 2, 3]",
       }) {
    expect_judged("python", reply, kPythonTests, false);
  }
}

constexpr const char* kCppTests = R"(
template <typename T> bool compare(T a, T b) { return a == b; }
int main() {
  int x0 = f(2);
  if (!compare(x0, 4)) throw std::runtime_error("x0");
  return 0;
}
)";
constexpr const char* kNodeTests = "\nconst x0 = f(2);\nif (x0 !== 4) { throw new Error('x0'); }\n";

TEST(Score, other_languages_pass_at_the_end_of_their_tests_alone) {
  const std::string head = "#include <unistd.h>\n#include <cstdlib>\n#include <stdexcept>\n";
  expect_judged("cpp", head + "int f(int x) { return x * 2; }", kCppTests, true);
  expect_judged("cpp", head + "int f(int x) { return x * 3; }", kCppTests, false);
  expect_judged("cpp", head + "int f(int) { std::exit(0); }", kCppTests, false);
  expect_judged("cpp", head + "int f(int) { return 1; }\nint early = (_exit(0), 0);", kCppTests,
                false);
  expect_judged("javascript", "function f(x) { return x * 2; }", kNodeTests, true);
  expect_judged("javascript", "function f(x) { return x * 2; } // end", kNodeTests, true);
  expect_judged("javascript", "function f(x) { return x * 3; }", kNodeTests, false);
  expect_judged("javascript", "function f(x) { process.exit(0); }", kNodeTests, false);
  expect_judged("javascript",
                "console.log(require('fs').readFileSync(0, 'utf8'));"
                "console.log(require('fs').readFileSync(__filename, 'utf8')); process.exit(0)",
                kNodeTests, false);
}

TEST(Score, the_expected_outputs_are_out_of_reach) {
  const Json columns =
      Json::parse(R"({"tests":[{"input":"","output":"THE-HIDDEN-ANSWER"}]})").value();
  Row row;
  row.columns = &columns;
  const auto judge = CodeJudge::make(Json().set("timeout_s", 10)).value();
  for (const char* const code :
       {"import gc\nfor o in gc.get_objects():\n"
        "    if 'THE-HIDDEN' in str(o)[:99999]: print('THE-HIDDEN-ANSWER'.lower()); break",
        "import os\nfor p in os.listdir('/proc'): print(open(f'/proc/{p}/cmdline').read())",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.unlink('stdout'); os.mkfifo('stdout')",
        "import os\nos.write(1, b'[{\"ok\":true}]'); os._exit(0)"}) {
    const auto passed = judge->passes(code, row);
    ASSERT_TRUE(passed) << passed.error().message;
    EXPECT_FALSE(*passed) << code;
  }
  EXPECT_TRUE(judge->passes("print('THE-HIDDEN-ANSWER')", row).value());
  // Threads and children are allowed.
  EXPECT_TRUE(judge
                  ->passes("import threading\nt = threading.Thread(target=lambda: "
                           "print('THE-HIDDEN-ANSWER'))\nt.start()\nt.join()",
                           row)
                  .value());
}

}  // namespace
}  // namespace assay::score
