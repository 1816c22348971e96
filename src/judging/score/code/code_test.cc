// Runs a model's code for a verdict. Needs python3 and a kernel with seccomp, as in CI.
#include <gtest/gtest.h>

#include "score/code/code_judge.h"
#include "score/code/sandbox.h"

namespace assay::score {
namespace {

Result<ProgramEnd> python(const std::string& code, Duration time_max = 20_s) {
  return run_program({.commands = {{"python3", "-I", "-S", "-c", code}},
                      .input = "given",
                      .time_max = time_max,
                      .output_bytes_max = 1000,
                      .jail = Jail{}});
}

TEST(Sandbox, gives_input_and_takes_output) {
  const auto end = python("import sys; print(sys.stdin.read().upper()); sys.exit(3)");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->out, "GIVEN\n");
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_NE(end->layers.find("no network"), std::string::npos);
}

TEST(Sandbox, has_no_network_and_no_way_out_of_its_group) {
  const auto end = python(
      "import socket, os\n"
      "for act in (lambda: socket.socket(), lambda: os.setsid(), lambda: os.setpgid(0, 0)):\n"
      "    try:\n"
      "        act()\n"
      "        print('let through')\n"
      "    except PermissionError:\n"
      "        print('refused')\n");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->out, "refused\nrefused\nrefused\n") << end->err;
}

TEST(Sandbox, ends_what_runs_on_and_what_shouts) {
  const auto slow = python("while True: pass", 300_ms);
  ASSERT_TRUE(slow);
  EXPECT_TRUE(slow->out_of_time);
  EXPECT_EQ(slow->signal, 9);
  const auto loud = python("while True: print('x' * 1000)");
  ASSERT_TRUE(loud);
  EXPECT_TRUE(loud->too_loud);
  EXPECT_LE(loud->out.size(), 1000u);
}

TEST(Sandbox, a_program_that_is_not_there_is_named) {
  const auto end = run_program({.commands = {{"no-such-program-at-all"}}, .folder = "."});
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("no-such-program-at-all"), std::string::npos);
}

// Right code gets a long time limit; some wrong code never ends.
bool passes(const std::string& code, const std::string& columns, double seconds) {
  const auto judge = CodeJudge::make(Json().set("timeout_s", seconds)).value();
  const Json parsed = Json::parse(columns).value();
  Row row;
  row.columns = &parsed;
  const auto verdict = judge->passes(code, row);
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict && *verdict;
}

void expect_right(const std::string& code, const std::string& columns) {
  EXPECT_TRUE(passes(code, columns, 120)) << code;
}
void expect_wrong(const std::string& code, const std::string& columns) {
  EXPECT_FALSE(passes(code, columns, 2)) << code;
}
// Code that never ends is wrong at any limit: a test need not wait long for it.
void expect_endless(const std::string& code, const std::string& columns) {
  EXPECT_FALSE(passes(code, columns, 0.5)) << code;
}

constexpr const char* kAdds = R"({"tests":[{"input":"1 2\n","output":"3\n"},
                                           {"input":"5 6\n","output":"11"}]})";

TEST(CodeJudge, a_program_passes_when_every_output_is_right) {
  expect_right("a, b = map(int, input().split())\nprint(a + b)", kAdds);
  expect_right("a, b = map(int, input().split())\nprint(a + b)\nexit(1)", kAdds);
  expect_wrong("print(3)", kAdds);
  expect_wrong("a, b = map(int, input().split())\nprint(a + b) if a < 3 else 1 / 0", kAdds);
  expect_wrong("def (", kAdds);
  expect_wrong("", kAdds);
  expect_endless("while True: pass", kAdds);
  expect_wrong("import os; os.kill(os.getppid(), 9)", kAdds);
  expect_endless("import os\nwhile True: os.fork()", kAdds);
}

TEST(CodeJudge, a_function_is_called_with_what_each_line_says) {
  const std::string columns =
      R"({"public_test_cases":"[{\"input\": \"[1, 2]\\n3\", \"output\": \"[4, 5]\"}]",
          "metadata":"{\"func_name\": \"add\"}"})";
  expect_right(
      "class Solution:\n    def add(self, xs: List[int], k):\n"
      "        print('noise')\n        return tuple(x + k for x in xs)",
      columns);
  expect_right("def add(xs, k):\n    return [x + float(k) for x in xs]", columns);
  expect_wrong("def add(xs, k):\n    return xs", columns);
  const std::string nested = R"({"tests":[{"input":"1","output":"[[1], [2]]"}],"fn_name":"f"})";
  expect_right("def f(x):\n    return ([x], [2])", nested);
  expect_wrong("def f(x):\n    return ([x], (2,))", nested);
  expect_wrong("def other():\n    pass", columns);
}

// What LiveCodeBench's runner does to a program, right or wrong (tools/against_code.py).
TEST(CodeJudge, a_program_meets_what_it_meets_in_livecodebenchs_runner) {
  const std::string two = R"({"tests":[{"input":"1 2\n","output":"3"}]})";
  const std::string print = "a, b = map(int, line.split())\nprint(a + b)";
  expect_right("import sys\nline = sys.stdin.readline()\n" + print, two);
  expect_right("import sys\nline = sys.stdin.readlines()[0]\n" + print, two);
  expect_right("from sys import stdin\nline = stdin.readline()\n" + print, two);
  expect_right("line = input()\n" + print + "\nreturn", two);  // the body of a function
  expect_right("line = input()\n" + print + "\nif __name__ == '__main__':\n    exit(1)", two);
  expect_wrong("import sys\nfor line in sys.stdin:\n    break\n" + print, two);
  expect_wrong("line = open(0).read()\n" + print, two);
  expect_wrong("n = 1\ndef f():\n    global n\n    n += 1\nf()\nline = input()\n" + print, two);
  expect_wrong("from __future__ import annotations\nline = input()\n" + print, two);
  expect_wrong("from sys import stdout\nline = input()\n" + print + "\nquit()", two);
  expect_wrong("class Solution:\n    pass\nline = input()\n" + print, two);
  // One process has all tests: state that is left behind is met again.
  const std::string twice = R"({"tests":[{"input":"1","output":"1"},{"input":"1","output":"2"}],
                                "fn_name":"f"})";
  expect_right("n = 0\ndef f(x):\n    global n\n    n += x\n    return n", twice);
}

TEST(CodeJudge, livecodebenchs_packed_tests_are_unpacked) {
  // base64(zlib(pickle('[{"input": "2", "output": "4"}]')))
  const std::string columns = R"({"private_test_cases":"PACKED"})";
  const auto packed = run_program(
      {.commands = {{"python3", "-c",
                     "import base64, pickle, zlib; print(base64.b64encode(zlib.compress("
                     "pickle.dumps('[{\"input\": \"2\", \"output\": \"4\"}]'))).decode(), "
                     "end='')"}},
       .folder = "."});
  ASSERT_TRUE(packed);
  std::string with = columns;
  with.replace(with.find("PACKED"), 6, packed->out);
  expect_right("print(int(input()) * 2)", with);
  expect_wrong("print(int(input()) * 3)", with);
}

TEST(CodeJudge, compares_as_livecodebench_does) {
  EXPECT_TRUE(same_output(" a \nb\n\n", "a\nb"));
  EXPECT_TRUE(same_output("1.0 2", "1 2.00"));
  EXPECT_TRUE(same_output("+1e1\u00a0", "10."));
  EXPECT_TRUE(same_output("-0 .5 1_0", "0.0 5e-1 10"));
  EXPECT_TRUE(same_output("\u0663 INF", "3 infinity"));
  EXPECT_FALSE(same_output("100000000000000000", "100000000000000001.0"));
  EXPECT_FALSE(same_output("nan", "NaN"));
  EXPECT_FALSE(same_output("1e 1.2.3 e5 .", "1e0 1.23 5 0"));
  EXPECT_FALSE(same_output("1 2", "1 2 3"));
  EXPECT_FALSE(same_output("a", "a\nb"));
  const auto same = [](const char* a, const char* b) {
    return same_value(Json::parse(a).value(), Json::parse(b).value());
  };
  EXPECT_TRUE(same("[1, {\"a\": 2.0}]", "[1.0, {\"a\": 2}]"));
  EXPECT_TRUE(same("true", "1"));
  EXPECT_FALSE(same("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(same("\"1\"", "1"));
}

}  // namespace
}  // namespace assay::score
