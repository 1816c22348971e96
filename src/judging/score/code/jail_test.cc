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
#include "score/code/testing_jail_attempts.h"
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
TEST(Jail, no_way_by_rarer_calls) { try_all(attempts_by_rarer_calls()); }
TEST(Jail, no_way_by_rarer_parts_of_the_kernel) {
  try_all(attempts_by_rarer_parts_of_the_kernel());
}

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

TEST(Jail, a_flood_of_output_ends_the_program) {
  Program program = attempt_of("import os\nwhile True: os.write(1, b'x' * 65536)");
  program.output_bytes_max = 1 << 20;
  const auto end = run_program(program);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(end->too_loud);
  EXPECT_LE(end->out.size(), std::size_t{1} << 20);
}

TEST(Jail, a_file_with_a_hole_is_bounded_too) {
  const auto end = limited("os.truncate(os.open('x', os.O_CREAT | os.O_RDWR), 1 << 40)", {});
  EXPECT_NE(end.exit_code, 0);
}

TEST(Jail, a_tree_of_empty_files_ends_too) {
  const auto end = limited(
      "n = 0\n"
      "try:\n"
      "    while n < 3_000_000: open(str(n), 'w').close(); n += 1\n"
      "except OSError: print(n)\n",
      {.disk_bytes_max = 8 << 20}, 60_s);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_GT(std::atoi(end.out.c_str()), 100);
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
