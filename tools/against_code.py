#!/usr/bin/env python3
"""Programs judged twice: by the reference client's LiveCodeBench runner and by Assay's jail.

    tools/against_code.py --endpoints DIR [--programs N] [--seed S]

DIR is a checkout of mlcommons/endpoints. Its run_lcb_tests.py is loaded and run in a process of its
own for each program; Assay runs the same reply with --allow-code. Programs are made up: right ones
and such that print a little else, raise, exit, read their input in every way, have globals, keep
state from test to test, return tuples, sets, floats, None. None runs on for ever: where the time
ends is not the same on two machines. It prints every difference; the exit code is 1 when there is
one.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

RUNNER = "src/inference_endpoint/evaluation/livecodebench/run_lcb_tests.py"
READS = ["a, b = map(int, input().split())",
         "import sys\na, b = map(int, sys.stdin.read().split())",
         "import sys\na, b = [int(x) for x in sys.stdin.readline().split()]",
         "import sys\na, b = map(int, sys.stdin.buffer.read().split())",
         "from sys import *\na, b = map(int, stdin.readlines()[0].split())",
         "a, b = map(int, open(0).read().split())",
         "from sys import stdin\na, b = map(int, stdin.readline().split())",
         "from sys import stdin\na, b = map(int, stdin.readline().split())\nstdin.readline()",
         "from sys import stdin\nfor line in stdin:\n    a, b = map(int, line.split())",
         "from sys import stdin\na, b = map(int, stdin.buffer.read().split())",
         "from sys import stdin\na, b = map(int, stdin.read().split())",
         "a, b = map(int, stdin.read().split())",
         "import sys\na, b = map(int, sys.stdin.readlines(1)[0].split())",
         "import sys\nfor line in sys.stdin:\n    a, b = map(int, line.split())\n    break",
         "import sys\na, b = map(int, sys.stdin.readline().strip().split())\nsys.stdin.readline()",
         "import sys\nread = sys.stdin.buffer.readline\na, b = map(int, read().split())\nread()",
         "import sys\na, b = map(int, next(sys.stdin).split())",
         "import sys\na, b = map(int, sys.stdin.buffer.readlines()[0].split())",
         "import sys\na, b = map(int, sys.stdin.__next__().split())",
         "import sys\nlines = [one.split() for one in sys.stdin.readlines()]\n"
         "a, b = map(int, lines[0])",
         "a, b = map(int, input('how many? ').split())",
         "a, b = map(int, input().split())\ntry:\n    input()\nexcept EOFError:\n    pass",
         "a, b = map(int, input().split())\ninput()",
         "a, b = map(int, input().split())\ntry:\n    input()\nexcept:\n    a += 1",
         "import builtins\na, b = map(int, builtins.open('x').readline().split())",
         "import sys\ninput = sys.stdin.readline\na, b = map(int, input().split())",
         "import sys\ninput = lambda: sys.stdin.readline().rstrip()\n"
         "a, b = map(int, input().split())",
         "import io, os\na, b = map(int, io.BytesIO(os.read(0, 99)).readline().split())",
         "n = 1\ndef take():\n    global n\n    n += 1\n    return input()\n"
         "a, b = map(int, take().split())",
         "n = [1]\ndef take():\n    n[0] += 1\n    return input()\n"
         "a, b = map(int, take().split())",
         "class Solution:\n    def take(self):\n        return input()\n"
         "a, b = map(int, Solution().take().split())",
         "from __future__ import annotations\na, b = map(int, input().split())",
         "import math\nmath.turn = getattr(math, 'turn', 0) + 1\n"
         "a, b = map(int, input().split())\na += math.turn - 1",
         "xs = list(map(int, input().split()))\na, b = xs[0], xs[1]\ndel xs",
         "def solve():\n    return map(int, input().split())\na, b = solve()",
         "data: List[int] = [int(x) for x in input().split()]\na, b = data",
         "a, b = map(int, globals()['input']().split())",
         "locals()['z'] = 1\na, b = map(int, input().split())\na += z - 1",
         "if True:\n    import sys\na, b = map(int, sys.stdin.read().split())"]
PRINTS = ["print(a + b)", "print(a + b, end='')", "print(f' {a + b} ')", "print(float(a + b))",
          "print(a + b)\nprint()", "print()\nprint(a + b)", "print(a - b)",
          "print(str(a + b) + '.0')", "print('%.6f' % (a + b))", "print(a + b, a)",
          "print(a)\nprint(b)", "print(None)", "print(a + b)\nraise SystemExit",
          "import sys\nprint(a + b)\nsys.exit(0)", "raise ValueError", "print(a + b)\nexit(1)",
          "import sys\nsys.stdout.write(str(a + b))", "print(a + b\n",
          "import sys\nprint(a + b, file=sys.stderr)", "print(f'{a + b:e}')",
          "print(a + b, '\\u00e9')", "print(a + b)\n1 / 0",
          "def f():\n    return a + b\nprint(f())", "print(True)",
          "import decimal\nprint(decimal.Decimal(a + b))", "print('\\t', a + b)",
          "print(a + b + 1e-9)", "print(a+b)\nimport os\nos.getcwd()",
          "assert a > 10 ** 9\nprint(a + b)", "pass",
          "import sys\nsys.stdout.buffer.write(str(a + b).encode())",
          "from sys import stdout\nstdout.write(str(a + b))", "import os\nos.write(1, b'7')",
          "print(a + b)\nquit()", "print(a + b)\nreturn", "print(a + b)\nraise KeyboardInterrupt",
          "print(__name__, a + b)",
          "if __name__ == '__main__':\n    print(a + b)\nelse:\n    print(0)",
          "if __name__ == \"__main__\":\n    import os\n    print(a + b)",
          "if __name__ == '__main__':\n    print(a + b)\na = 1",
          "print(10 ** 17 + a + b)", "print(f'{a + b}e0')", "print(f'+{a + b}')",
          "print(f'{a + b}\\xa0')",
          "print(str(a + b).translate({48 + i: 0x660 + i for i in range(10)}))",
          "print(f'{a + b}.' + '0' * 400)", "print('nan')", "print(f'{(a + b) * 10}e-1')",
          "print(f'{a + b}_0')", "import sys\nsys.stdout.close()\nprint(a + b)",
          "import sys\nsys.stdout = open('out', 'w')\nprint(a + b)",
          "print(a + b, end='\\r\\n')", "print(a + b, '\\x0c')", "'a'\nprint(a + b)",
          "print(f'{a + b:,}')", "import resource\nprint(a + b)",
          "import numpy_none\nprint(a + b)", "print(*[a + b, a], sep='\\n')",
          "print([x for x in [a + b]][0])", "print((lambda: a + b)())",
          "class A:\n    v = a + b\nprint(A.v)", "print(eval('a + b'))", "exec('print(a + b)')",
          "def f():\n    nonlocal a\n    a += b\nf()\nprint(a)", "help()\nprint(a + b)"]
BODIES = ["return x + y", "return (x + y)", "return [x, y]", "return (x, y)", "return {x, y}",
          "return float(x + y)", "return str(x + y)", "return None", "raise ValueError",
          "return x == y", "return {'a': x}", "return {1: x}",
          "print('noise')\n        return x + y", "return x - y", "return x + y + 0.0",
          "return [[x], (y,)]", "return x + y if x else True", "return int(x > y)",
          "x.append(1)\n        return x", "return sum([x, y])", "return '\\u00e9'",
          "return b'a'", "return __import__('fractions').Fraction(x + y)",
          "return __import__('decimal').Decimal(x + y)", "return deque([x, y])",
          "return float('nan')", "return Counter({'a': x})", "return x + y + 10 ** 20 - 10 ** 20",
          "self.n = getattr(self, 'n', 0) + 1\n        return x + y + self.n - 1",
          "global n\n        n = globals().get('n', 0) + 1\n        return x + y + n - 1",
          "exit()", "raise KeyboardInterrupt", "return (x for x in [x + y])", "return range(x, y)",
          "return map(abs, [x, y])", "return {'a': (x,)}", "return -0.0", "return x + y + 1e-12",
          "import sys\n        sys.stdin.read()\n        return x + y", "return __name__",
          "return len(input())"]


def stdio(chance):
    read, said = chance.choice(READS), chance.choice(PRINTS)
    code = f"{read}\n{said}\n"
    if chance.random() < 0.1:
        code = chance.choice(["# class Solution\n", "'class Solution'\n", "#!python\n", "\ufeff",
                              "if 1:\n    pass\n"]) + code
    elif chance.random() < 0.2:
        body = "\n".join("    " + line for line in code.split("\n"))
        code = f"def main():\n{body}\n\nif __name__ == '__main__':\n    main()\n"
    tests = []
    for _ in range(chance.randint(1, 3)):
        a, b = chance.randint(-9, 99), chance.randint(0, 99)
        right = chance.choice([f"{a + b}"] * 6 + [f"{a + b}\n", f" {a + b}", f"{a + b}.0",
                                                  f"{a + b} {a}", f"{a}\n{b}", f"{a + b}\n\n",
                                                  "",
                                                  f"{a + b}e0", f"{10 ** 17 + a + b}", "nan",
                                                  f"{10 ** 17 + a + b + 1}", f"{a + b:.1f}"])
        tests.append((f"{a} {b}" + chance.choice(["", "\n", "\n\n", "\n7"]), right))
    return code, tests, None


def function(chance):
    body = chance.choice(BODIES)
    lines = f"def add(self, x, y):\n        {body}\n"
    code = chance.choice(["class Solution:\n    " + lines] * 6 + [
        "from typing import *\nclass Solution:\n    " + lines,
        lines.replace("self, ", ""), "class Other:\n    " + lines,
        "class Solution(object):\n    n = 0\n    " + lines,
        "# class Solution\n" + lines.replace("self, ", ""),
        "from __future__ import annotations\nclass Solution:\n    " + lines,
        "print('top')\nclass Solution:\n    " + lines, "import sys\nsys.exit()\n",
        "class Solution:\n    " + lines + "if __name__ == '__main__':\n    raise ValueError\n"])
    tests = []
    for _ in range(chance.randint(1, 3)):
        x, y = chance.randint(0, 9), chance.randint(0, 9)
        right = chance.choice([x + y] * 6 + [[x, y], float(x + y), str(x + y), None, x == y,
                                             {"a": x}, [[x], [y]], int(x > y)])
        tests.append((f"{x}\n{y}" + chance.choice([""] * 9 + ["\n"]), json.dumps(right)))
    return code, tests, "add"


def theirs(runner, code, tests, name):
    """In a process that their guard may leave without its functions."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        end, write = os._exit, os.write
        for here in (0, 1, 2):  # their worker's input is empty
            os.dup2(os.open(os.devnull, os.O_RDWR), here)
        verdict = b"0"
        try:
            sample = {"input_output": json.dumps({
                "inputs": [one for one, _ in tests], "outputs": [two for _, two in tests],
                "fn_name": name})}
            results, _ = runner.run_test(sample, test=code, timeout=60)
            verdict = b"1" if all(one > 0 for one in results) else b"0"
        except BaseException:  # pylint: disable=broad-except; as their worker: a failure
            verdict = b"0"
        write(out, verdict)
        end(0)
    os.close(out)
    said = os.read(into, 1)
    os.close(into)
    os.waitpid(child, 0)
    return float(said == b"1")


def ours(assay, rows):
    with tempfile.TemporaryDirectory() as folder:
        replies = pathlib.Path(folder) / "replies.jsonl"
        verdicts = pathlib.Path(folder) / "verdicts.jsonl"
        with replies.open("w", encoding="utf-8") as out:
            for code, tests, name in rows:
                out.write(json.dumps({
                    "reply": f"```python\n{code}```", "fn_name": name, "input_output": {
                        "inputs": [one for one, _ in tests], "outputs": [two for _, two in tests],
                        "fn_name": name}}) + "\n")
        subprocess.run([assay, "score", replies, "--scorer", "code_bench_scorer", "--extractor",
                        "python_code_extractor", "--allow-code", "--extras",
                        json.dumps({"timeout_s": 60, "python": sys.executable}),
                        "--verdicts", verdicts, "--json"], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line)["score"] for line in verdicts.read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--endpoints", type=pathlib.Path, required=True)
    parser.add_argument("--assay", default="build/release/assay")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("lcb", options.endpoints / RUNNER)
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    chance = random.Random(options.seed)
    done = different = right = 0
    while done < options.programs:
        rows = [chance.choice([stdio, function])(chance)
                for _ in range(min(100, options.programs - done))]
        for row, verdict in zip(rows, ours(options.assay, rows), strict=True):
            wanted = theirs(runner, *row)
            right += wanted
            if verdict != wanted:
                different += 1
                print(f"  theirs {wanted}, ours {verdict}: {row}")
        done += len(rows)
        print(f"{done} programs, {different} differ, {right:.0f} pass", flush=True)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
