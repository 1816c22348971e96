// The jail's limits, and what a model's code may try against its own score. The ways out of the
// jail are tried in jail_long_test.cc.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "score/code/code_judge.h"
#include "score/code/program_judge.h"
#include "score/code/sandbox.h"
#include "score/code/testing_jail.h"

namespace assay::score {
namespace {

namespace fs = std::filesystem;

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
           "import gc, os, sys\nos.write(1, repr(gc.get_objects()).encode())\ndef f(x): pass",
           "import sys\nsys.settrace(lambda *a: None)\ndef f(x): return 1",
           "def f(x): return [1, 2, 3]",
       }) {
    expect_judged("python", reply, kPythonTests, false);
  }
}

// It waits for words on its standard input until its time is over, so it gets little.
TEST(Score, python_that_reads_and_writes_every_descriptor_does_not_pass) {
  const auto passed =
      mbxp("python",
           "import os\nfor n in range(256):\n    try: os.write(n, b'\\n' + os.read(n, 999))\n"
           "    except OSError: pass\ndef f(x): pass",
           kPythonTests, 1);
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_FALSE(*passed);
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

TEST(Score, cpp_passes_at_the_end_of_its_tests_alone) {
  const std::string head = "#include <unistd.h>\n#include <cstdlib>\n#include <stdexcept>\n";
  expect_judged("cpp", head + "int f(int x) { return x * 2; }", kCppTests, true);
  expect_judged("cpp", head + "int f(int x) { return x * 3; }", kCppTests, false);
  expect_judged("cpp", head + "int f(int) { std::exit(0); }", kCppTests, false);
  expect_judged("cpp", head + "int f(int) { return 1; }\nint early = (_exit(0), 0);", kCppTests,
                false);
}

TEST(Score, javascript_passes_at_the_end_of_its_tests_alone) {
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
