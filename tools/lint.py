#!/usr/bin/env python3
"""Lint: the two clang tools over our sources, on all cores, each file only when it has changed.

    tools/lint.py format          every .h and .cc stands as .clang-format wants it
    tools/lint.py analyse DIR     clang's warnings (thread safety among them) and .clang-tidy's
                                  checks over DIR/compile_commands.json

`analyse` reads the batches of a group's rooms as one file, and those of its tests as another: most
of its time goes into headers that all of them share. It remembers a clean one under DIR/lint/ by
the hash of all that decides its verdict: the command, .clang-tidy, and the text of the files and of
every header of ours that they reach.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import tidy

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_FORMAT = "clang-format-14"
CLANG_TIDY = "clang-tidy-14"
BATCH_OF = re.compile(r"CMakeFiles/(\w+)\.dir/Unity/")
GROUP_OF = re.compile(r'#include "' + re.escape(str(ROOT)) + r'/src/(\w+)/')
# What decides how a file reads, apart from where its headers lie.
DIALECT = ("-D", "-std=", "-W", "-f", "-pthread")
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

    def seen(self, path):
        seen, waiting = {}, [path]
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen[here], headers = self.includes(here)
                waiting += headers
        return seen

    def digest(self, path):
        seen = self.seen(path)
        return "".join(seen[here] for here in sorted(seen))


def headers_and_dialect(command):
    """The flags of a command that say where headers lie, and those that say how to read them."""
    words = shlex.split(command)
    places, dialect = [], []
    for at, word in enumerate(words):
        if word == "-isystem":
            places.append(f"-isystem{words[at + 1]}")
        elif word.startswith("-I"):
            places.append(word)
        elif word.startswith(DIALECT):
            dialect.append(word)
    return places, dialect


def units(build):
    """(file, flags) of all that is analysed: a group's batches together, others by themselves."""
    together, alone = {}, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        places, dialect = headers_and_dialect(entry["command"])
        if batch := BATCH_OF.search(entry["file"]):
            group = GROUP_OF.search(path.read_text())
            kind = "tests" if batch[1].endswith("_test") else "rooms"
            key = (group[1] if group else "", kind, *sorted(set(dialect)))
            together.setdefault(key, []).append((path, places))
        elif path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            alone.append((path, places + dialect))
    for number, (key, batches) in enumerate(sorted(together.items())):
        path = build / "lint" / f"{key[0]}_{key[1]}_{number}.cc"
        path.write_text("".join(f'#include "{batch}"\n' for batch, _ in batches))
        places = dict.fromkeys(place for _, flags in batches for place in flags)
        alone.append((path, [*places, *key[2:]]))
    return alone


def analyse_faults(build):
    remembered = build / "lint"
    remembered.mkdir(parents=True, exist_ok=True)
    reach = Reach()
    rules = (ROOT / ".clang-tidy").read_text()
    work = []
    for path, flags in units(build):
        key = hashlib.sha256((" ".join(flags) + rules + reach.digest(path)).encode()).hexdigest()
        if not (remembered / key).exists():
            work.append((path, flags, remembered / key))
    # The largest first, so that no core waits for another's.
    work.sort(key=lambda item: -len(reach.seen(item[0])))

    def check(item):
        path, flags, stamp = item
        done = subprocess.run([CLANG_TIDY, "--quiet", str(path), "--", *flags], cwd=ROOT,
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
