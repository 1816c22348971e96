#!/usr/bin/env python3
"""Programs judged twice: by the reference client's LiveCodeBench runner and by Assay's jail.

    tools/against_code.py --endpoints DIR [--programs N] [--seed S]

DIR is a checkout of mlcommons/endpoints. Its run_lcb_tests.py is loaded and run in a process of its
own for each program; Assay runs the same reply with --allow-code. Programs are made up: right ones
and such that print a little else, raise, exit, read their input in every way, return tuples, sets,
floats, None. None runs on for ever: where the time ends is not the same on two machines. It prints
every difference; the exit code is 1 when there is one.
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
         "a, b = map(int, open(0).read().split())"]
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
          "assert a > 10 ** 9\nprint(a + b)", "pass"]
BODIES = ["return x + y", "return (x + y)", "return [x, y]", "return (x, y)", "return {x, y}",
          "return float(x + y)", "return str(x + y)", "return None", "raise ValueError",
          "return x == y", "return {'a': x}", "return {1: x}",
          "print('noise')\n        return x + y", "return x - y", "return x + y + 0.0",
          "return [[x], (y,)]", "return x + y if x else True", "return int(x > y)",
          "x.append(1)\n        return x", "return sum([x, y])", "return '\\u00e9'",
          "return b'a'"]

# Differences that stay, and why: what the code has, the reason.
KNOWN = [
    ("open(0)", "their runner replaces sys.stdin, and file 0 is the runner's own input"),
    ("os.getcwd", "their runner takes some functions of os and shutil away instead of a jail"),
]


def stdio(chance):
    read, said = chance.choice(READS), chance.choice(PRINTS)
    code = f"{read}\n{said}\n"
    if chance.random() < 0.2:
        body = "\n".join("    " + line for line in code.split("\n"))
        code = f"def main():\n{body}\n\nif __name__ == '__main__':\n    main()\n"
    tests = []
    for _ in range(chance.randint(1, 3)):
        a, b = chance.randint(-9, 99), chance.randint(0, 99)
        right = chance.choice([f"{a + b}"] * 6 + [f"{a + b}\n", f" {a + b}", f"{a + b}.0",
                                                  f"{a + b} {a}", f"{a}\n{b}", f"{a + b}\n\n", ""])
        tests.append((f"{a} {b}" + chance.choice(["", "\n", "\n\n"]), right))
    return code, tests, None


def function(chance):
    body = chance.choice(BODIES)
    lines = f"def add(self, x, y):\n        {body}\n"
    code = chance.choice(["class Solution:\n    " + lines] * 6 + [
        "from typing import *\nclass Solution:\n    " + lines,
        lines.replace("self, ", ""), "class Other:\n    " + lines])
    tests = []
    for _ in range(chance.randint(1, 3)):
        x, y = chance.randint(0, 9), chance.randint(0, 9)
        right = chance.choice([x + y] * 6 + [[x, y], float(x + y), str(x + y), None, x == y,
                                             {"a": x}, [[x], [y]], int(x > y)])
        tests.append((f"{x}\n{y}", json.dumps(right)))
    return code, tests, "add"


def theirs(runner, code, tests, name):
    """In a process that their guard may leave without its functions."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        end, write = os._exit, os.write
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
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
    done = different = known = right = 0
    while done < options.programs:
        rows = [chance.choice([stdio, function])(chance)
                for _ in range(min(100, options.programs - done))]
        for row, verdict in zip(rows, ours(options.assay, rows), strict=True):
            wanted = theirs(runner, *row)
            right += wanted
            if verdict != wanted and any(part in row[0] for part, _ in KNOWN):
                known += 1
            elif verdict != wanted:
                different += 1
                print(f"  theirs {wanted}, ours {verdict}: {row}")
        done += len(rows)
        print(f"{done} programs, {different} differ, {known} known, {right:.0f} pass", flush=True)
    for part, reason in KNOWN:
        print(f"known of {part}: {reason}")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
