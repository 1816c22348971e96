#!/usr/bin/env python3
"""Lint: the two clang tools over our sources, on all cores, each file only when it has changed.

    tools/lint.py format          every .h and .cc stands as .clang-format wants it
    tools/lint.py analyse DIR     clang's warnings (thread safety among them) and .clang-tidy's
                                  checks over DIR/compile_commands.json

`analyse` remembers a clean file under DIR/lint/ by the hash of all that decides its verdict: the
command, .clang-tidy, and the text of the file and of every header of ours that it reaches.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import tidy

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_FORMAT = "clang-format-14"
CLANG_TIDY = "clang-tidy-14"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def sources():
    return [path for path in tidy.listed(ROOT) if path.endswith((".h", ".cc"))]


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def format_faults():
    def check(chunk):
        done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *chunk], cwd=ROOT,
                              capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    paths = sources()
    chunks = [paths[start:start + 20] for start in range(0, len(paths), 20)]
    output = "".join(in_parallel(check, chunks))
    faulty = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", output, re.M)))
    for path in faulty:
        print(f"{path}: not as .clang-format has it: {CLANG_FORMAT} -i {path}")
    if output and not faulty:
        print(output)
        faulty = ["clang-format failed"]
    print(f"format: {len(paths)} files, {len(faulty)} faults")
    return len(faulty)


class Reach:
    """All headers of ours that a file includes, however far away."""

    def __init__(self):
        self.direct = {}

    def includes(self, path):
        if path not in self.direct:
            text = path.read_text(errors="replace")
            # A batch of a room (a unity file) names its files by whole paths, which / keeps.
            found = [folder / name for name in INCLUDE.findall(text)
                     for folder in [ROOT, *(ROOT / "src").iterdir()]]
            self.direct[path] = (hashlib.sha256(text.encode()).hexdigest(),
                                 [header for header in found if header.is_file()])
        return self.direct[path]

    def digest(self, path):
        seen, waiting = {}, [path]
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen[here], headers = self.includes(here)
                waiting += headers
        return "".join(seen[here] for here in sorted(seen))


def analyse_faults(build):
    remembered = build / "lint"
    remembered.mkdir(parents=True, exist_ok=True)
    reach = Reach()
    rules = (ROOT / ".clang-tidy").read_text()
    work = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        ours = path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build")
        if not ours and path.parent.name != "Unity":
            continue
        key = hashlib.sha256(
            (entry["command"] + rules + reach.digest(path)).encode()).hexdigest()
        if not (remembered / key).exists():
            work.append((path, remembered / key))

    def check(item):
        path, stamp = item
        done = subprocess.run([CLANG_TIDY, "-p", str(build), "--quiet", str(path)], cwd=ROOT,
                              capture_output=True, text=True)
        if done.returncode == 0:
            stamp.touch()
            return ""
        return done.stdout.strip() or done.stderr.strip()

    seen = set()
    for output in in_parallel(check, work):
        # A fault in a header comes once for each file that includes it; once is enough.
        for block in re.split(r"\n(?=\S+:\d+:\d+: (?:error|warning))", output):
            if block.strip() and block not in seen:
                seen.add(block)
                print(block.replace(f"{ROOT}/", ""))
    print(f"analyse: {len(work)} changed files, {len(seen)} faults")
    return len(seen)


def main(args):
    if args == ["format"]:
        return 1 if format_faults() else 0
    if len(args) == 2 and args[0] == "analyse":
        return 1 if analyse_faults(pathlib.Path(args[1]).resolve()) else 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
