#!/usr/bin/env python3
"""Mutations of the core: does a unit test of the room fail when one expression of it is wrong?

All files of a room are mutated, one expression at a time: a comparison, an operator, a constant,
a condition or a part of one, a statement or a term left out, one instant or field for another, the
two sides of a choice (tools/mutations.py has the kinds). Each mutant is built in a copy of the tree
(build/mutate/tree) and run against the unit tests of its own room only. All mutants among which a
statement can choose when the tests run (ASSAY_MUTANT) are built at once, and each of them is run
against the tests that come to it only.
A mutant that those tests pass has survived: either a test is missing, or the mutant is equivalent,
and then tools/mutate_equivalent.txt says why.

    tools/mutate.py run --sample 60              60 mutants of the room, drawn by --seed
    tools/mutate.py protocol --file exchange.cc  all mutants of one file
    tools/mutate.py run --list                   print the mutants, build nothing

The last line is `N killed, N survived, N equivalent, N not compiled`; the exit code is 1 when fewer
than --at-least were killed. A room takes some minutes; the test suite does not run this,
`./assay.sh test full` does.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from mutations import DECLARES, WITH_VALUE, fields_of, words_of_line

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutate" / "tree"
BUILD = ROOT / "build" / "mutate" / "build"
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.txt"

# The rooms that a figure goes through: all their files are mutated, except what is only for tests.
ROOMS = ["run", "protocol", "record", "metrics", "audit", "decide", "net", "host"]
NOT_THE_PRODUCT = re.compile(r"(_test|_fuzz|_bench)\.cc$|/testing_\w+\.h$|_twin\.h$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str  # from the repository's root
    line: int  # from 0
    old: str
    new: str

    def key(self):
        return f"{self.path}: {self.old.strip()} -> {self.new.strip() or '(left out)'}"


def code_of(lines):
    """The lines with comments, strings and character literals blanked out, same columns."""
    text = "\n".join(lines)
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text).split("\n")


def mutants_of(tree, path):
    lines = (tree / path).read_text().split("\n")
    code = code_of(lines)
    fields = fields_of(code)
    out = []
    for number, (raw, clean) in enumerate(zip(lines, code)):
        word = clean.strip()
        if not clean.startswith(" ") or word.startswith(("#", "CHECK", "static_assert",
                                                         "template")):
            continue
        # A statement that goes on over lines is not left out; a declaration is none.
        before = code[number - 1].strip() if number else ""
        whole = before == "" or before.endswith((";", "{", "}", ":"))
        seen = {raw}
        for new in words_of_line(raw, clean, fields):
            if new in seen or (new == "" and not whole):
                continue
            seen.add(new)
            out.append(Mutant(path, number, raw, new))
    return out


def files_of(tree, room):
    """The room's files from the root, in a fixed order: a seed draws the same ones again."""
    folder = next((ROOT / "src").glob(f"*/{room}")).relative_to(ROOT)
    files = [file for end in ("cc", "h") for file in (tree / folder).rglob(f"*.{end}")]
    paths = sorted(str(file.relative_to(tree)) for file in files)
    return [path for path in paths if not NOT_THE_PRODUCT.search(path)]


def equivalents():
    if not EQUIVALENT.exists():
        return set()
    return {line.rstrip() for line in EQUIVALENT.read_text().splitlines()
            if line and not line.startswith(("#", " "))}


def sh(*command, timeout=None):
    try:
        return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None


# In front of each file whose statements choose; #line keeps the numbers of the compiler's errors.
# In a file named by ASSAY_REACHED each mutant has one byte: whether a run came to its choice. The
# file is shared memory, so that what a forked process reaches counts, too.
SWITCH = """#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef ASSAY_MUTANT_CHOSEN
#define ASSAY_MUTANT_CHOSEN
inline char* assay_reached() {
  const char* path = std::getenv("ASSAY_REACHED");
  const int fd = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  struct stat is;
  if (fd < 0 || ::fstat(fd, &is) != 0) return nullptr;
  void* bytes = ::mmap(nullptr, is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}
inline char* const assay_reached_bytes = assay_reached();
inline bool assay_mutant(int number) {
  static const int chosen = [] {
    const char* text = std::getenv("ASSAY_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  if (assay_reached_bytes != nullptr) assay_reached_bytes[number] = 1;
  return chosen == number;
}
#endif
#line 1
"""
# Where a choice is an expression and no statement: the groups in between are what can differ.
BOOL, VALUE, STEP = "static_cast<bool>({})", "({})", "static_cast<void>({})"
FORMS = [
    (re.compile(r"^(\s*(?:\} else )?(?:if|while) \()(.*)(\) \{)$"), [BOOL]),
    (re.compile(r"^(\s*for \([^;=]* \w+ = )([^;]*)(; )([^;]*)(; )([^;]*)(\) \{)$"),
     [VALUE, BOOL, STEP]),
    (re.compile(r"^([^{};]*\{ return )([^{};]*)(; \})$"), [VALUE]),
    (WITH_VALUE, [VALUE]),
]
NO_STATEMENT = re.compile(r"^(case|default|else|using|static|constexpr|inline|template|struct|\}"
                          r"|const |auto |friend|extern|enum|public|private"
                          r"|ASSIGN_OR_RETURN\([^,]*\w \w)")
STATEMENT_WORDS = ("return", "delete", "if", "for", "while")


def without_comment(line):
    return line.split("  //")[0].rstrip()


def stands_alone(line):
    """Whether the line is one whole statement that declares nothing."""
    code = code_of([line])[0]
    return (line.endswith(";") and all(code.count(one) == code.count(other)
                                       for one, other in ("()", "{}"))
            and not NO_STATEMENT.match(line) and not WITH_VALUE.match(line)
            and (line.startswith(STATEMENT_WORDS) or not DECLARES.match(line)))


# A mutant that a choice holds stands on a line of its own, by whose number an error names it: its
# own code from OWN on, what joins it to the others from JOINT on.
OWN, JOINT = 100_000, 200_000


def chosen(raw, line, mutants):
    """The statement of `line` with a choice among `mutants` ({number: text}); None where it cannot
    be one."""
    def at(number, text):
        return f"\n#line {number}\n{text}\n"

    for pattern, casts in FORMS:
        found = pattern.match(raw)
        if not found or any(";" in one or one.startswith("{")
                            or re.search(r"\w \w+ = ", one) for one in found.groups()[1::2]):
            continue
        parts = list(found.groups())
        places = range(1, len(parts), 2)
        for i, cast in zip(places, casts):
            parts[i] = at(line, cast.format(parts[i]))
        for one, text in mutants.items():
            other = pattern.match(text)
            if not other or other.groups()[::2] != found.groups()[::2]:
                return None
            for i, cast in zip(places, casts):
                if other.groups()[i] != found.groups()[i]:
                    parts[i] = (at(JOINT + one, f"assay_mutant({one}) ?")
                                + at(OWN + one, cast.format(other.groups()[i]))
                                + at(JOINT + one, ": ") + parts[i])
        return "".join(parts)
    if not stands_alone(raw.strip()):
        return None
    out = at(line, "{ " + raw.strip() + " }")
    for one, text in mutants.items():
        out = (f"if (assay_mutant({one})) {{" + at(OWN + one, text.strip())
               + at(JOINT + one, "} else ") + out)
    return out


def statement_around(code, number):
    """The first and the last line of the statement that the line is part of."""
    def ends(line):
        return code[line].rstrip().endswith((";", "{", "}", ":"))
    first = last = number
    while first > 0 and not ends(first - 1):
        first -= 1
    while first < number and not code[first].strip():
        first += 1
    while last + 1 < len(code) and not ends(last):
        last += 1
    return first, last


def joined(lines, replaced=(None, "")):
    """The lines as one, without comments; of (line, text), the text stands for the line."""
    texts = [without_comment(replaced[1] if i == replaced[0] else line)
             for i, line in enumerate(lines)]
    texts = [text for text in texts if not text.lstrip().startswith("//")]
    return " ".join([texts[0], *(text.strip() for text in texts[1:])]) if texts else ""


def choices_of(numbered):
    """All statements with their mutants: {(path, first line): (lines, {number: mutant})}."""
    held = {}
    for path in sorted({one.path for one in numbered.values()}):
        lines = (COPY / path).read_text().split("\n")
        code = code_of(lines)
        for number, one in numbered.items():
            if one.path == path:
                first, last = statement_around(code, one.line)
                held.setdefault((path, first + 1), (lines[first:last + 1], {}))[1][number] = one
    return held


def write_choices(held, before):
    """Writes the choices into the copy; leaves out of `held` what no choice can hold."""
    for path, text in before.items():
        out = text.split("\n")
        for at, (whole, mutants) in [(at, one) for (file, at), one in held.items() if file == path]:
            changed = mutants and chosen(
                joined(whole), at, {number: joined(whole, (one.line - at + 1, one.new))
                                    for number, one in mutants.items()})
            if not changed:
                del held[path, at]
                continue
            # The number of the line comes back after the choice.
            out[at - 1:at - 1 + len(whole)] = [f"#line {at}\n{changed}\n#line {at + len(whole)}",
                                               *[None] * (len(whole) - 1)]
        out = SWITCH + "\n".join(line for line in out if line is not None)
        if (COPY / path).read_text() != out:
            (COPY / path).write_text(out)


def culprit(held, path, line, words):
    """The choice to blame for an error: where a name is not declared, the one that holds its
    declaration."""
    name = re.match(r"\W*(\w+)\W+was not declared", words)
    hides = [key for key in held if name and key[0] == path and key[1] < line
             and re.search(rf"[\w>&] {name.group(1)}\b", "\n".join(held[key][0]))]
    return max(hides, default=(path, line))


# Where an error comes from: an error in a header says it in the lines that lead there.
CAUSE = re.compile(r"tree/([^\s:]+):(\d+):\d+: +(error: .*|required from .*"
                   r"|note: in expansion of .*|in .constexpr. expansion of .*)")


def nearest_above(held, path, line):
    """The last choice of a file before a line; None where it has none."""
    above = [at for file, at in held if file == path and at <= line]
    return (path, max(above)) if above else None


def built_together(room, numbered, jobs):
    """Builds what can be chosen; the numbers of those mutants, of those that do not compile, and
    how to undo it."""
    before = {path: (COPY / path).read_text() for path in {one.path for one in numbered.values()}}
    held = choices_of(numbered)
    broken = set()
    for _ in range(40):
        write_choices(held, before)
        # The library first: its errors are those of the tests, which take longer to build.
        for target in (f"assay_{room}", f"{room}_test"):
            built = sh("ninja", "-C", BUILD, "-j", jobs, "-k", "0", target)
            if built.returncode:
                break
        if built.returncode == 0 or not held:
            break
        errors = [(path, int(line), words) for path, line, words in
                  re.findall(CAUSE, built.stdout)]
        own = {line - OWN for _, line, _ in errors if OWN < line < JOINT}
        # What does not compile as a choice is tried by itself later.
        alone = {line - JOINT for _, line, _ in errors if line > JOINT} - own
        broken |= own
        for _, mutants in held.values():
            for number in (own | alone) & set(mutants):
                del mutants[number]
        if own or alone:
            continue
        wrong = {culprit(held, path, line, words.removeprefix("error: "))
                 for path, line, words in errors} & set(held)
        if not wrong:  # a choice can spoil a line below it, too
            wrong = {nearest_above(held, path, line) for path, line, _ in errors} - {None}
        # A choice in a header may spoil a file that is not mutated, and the error names that file.
        in_headers = {key for key in held if key[0].endswith(".h")}
        for key in wrong or in_headers or set(held):
            del held[key]
    return {number for _, mutants in held.values() for number in mutants}, broken, before


def prepare(room, jobs):
    """A copy of the tracked files, built; the tests of the room and their milliseconds."""
    names = sh("git", "-C", ROOT, "ls-files").stdout.split("\n")
    for name in filter(None, names):
        source, target = ROOT / name, COPY / name
        if source.is_file() and not (target.exists()
                                     and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for old in (COPY / "src").rglob("*"):  # renamed or removed since
        if old.is_file() and str(old.relative_to(COPY)) not in names:
            old.unlink()
    done = sh("cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
              "-DCMAKE_CXX_FLAGS=-O0 -D_GLIBCXX_ASSERTIONS", "-DCMAKE_CXX_FLAGS_DEBUG=",
              "-DASSAY_WEB=OFF", "-DASSAY_UNITY=ON", f"-DASSAY_SINGLE={room}")
    if done.returncode == 0:
        done = sh("ninja", "-C", BUILD, "-j", jobs, f"{room}_test")
    if done.returncode == 0:
        done = sh(BUILD / f"{room}_test", timeout=1800)
    if done is None or done.returncode:
        sys.exit(f"{room}_test does not pass before any mutation:\n{done and done.stdout[-3000:]}")
    return [(name, int(ms))
            for name, ms in re.findall(r"\[       OK \] (\S+) \((\d+) ms\)", done.stdout)]


def in_stages(tests):
    """The tests as filters, quick ones first, each with a limit that a busy machine keeps."""
    groups = [[], [], []]
    for one in tests:
        groups[(one[1] > 20) + (one[1] > 300)].append(one)
    return [(":".join(name for name, _ in group), 5 + sum(ms for _, ms in group) / 50)
            for group in groups if group]


def verdict(room, mutant, jobs, stages):
    target = COPY / mutant.path
    text = target.read_text()
    lines = text.split("\n")
    lines[mutant.line] = mutant.new
    target.write_text("\n".join(lines))
    try:
        built = sh("ninja", "-C", BUILD, "-j", jobs, f"{room}_test", timeout=900)
        if built is None or built.returncode:
            return "not compiled"
        return tested(room, stages)
    finally:
        target.write_text(text)


def tested(room, stages, number=0):
    """Slow tests run only where the quick ones find nothing. A loop without end is killed."""
    for tests, seconds in stages:
        # Nor does a mutant that never stops writing fill the disk. The limit is of CPU time, which
        # other programs do not use up; one that only waits is killed much later.
        ran = sh("env", f"ASSAY_MUTANT={number}", "prlimit", f"--data={4 << 30}",
                 f"--fsize={256 << 20}", f"--cpu={round(seconds)}", BUILD / f"{room}_test",
                 "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}",
                 timeout=30 + 3 * seconds)
        if ran is None or ran.returncode:
            return "killed"
    return "survived"


def reached_by(room, tests, numbers, jobs):
    """The tests that come to each mutant's choice; all where main() does not come first."""
    def run(name):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(max(numbers, default=0) + 1))
            file.flush()
            sh("env", f"ASSAY_REACHED={file.name}", BUILD / f"{room}_test", "--gtest_brief=1",
               f"--gtest_filter={name}", timeout=1800)
            return pathlib.Path(file.name).read_bytes()
    early = run("-*")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        seen = list(zip(tests, pool.map(run, [name for name, _ in tests])))
    return {number: [test for test, bytes_ in seen if early[number] or bytes_[number]]
            for number in numbers}


def verdicts(room, mutants, args):
    """Each mutant and what became of it, those that were built together first."""
    numbered = dict(enumerate(mutants, start=1))
    together, broken, before = built_together(room, numbered, args.jobs)
    try:
        stages = in_stages(args.tests)
        if tested(room, stages) == "killed":
            sys.exit(f"{room}_test fails with all mutants built and none chosen")
        reached = reached_by(room, args.tests, together, args.jobs)

        def word(number):
            return tested(room, in_stages(reached[number]), number)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            words = pool.map(word, sorted(together))
            yield from zip((numbered[number] for number in sorted(together)), words)
    finally:
        for path, text in before.items():
            (COPY / path).write_text(text)
    for number, mutant in numbered.items():
        if number in broken:
            yield mutant, "not compiled"
        elif number not in together:
            yield mutant, "not tried" if args.quick else verdict(room, mutant, args.jobs, stages)


def show(mutant):
    diff = difflib.ndiff([mutant.old.strip()], [mutant.new.strip() or "(left out)"])
    words = [line for line in diff if line[0] in "-+"]
    print(f"{mutant.path}:{mutant.line + 1}\n    " + "\n    ".join(words), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--file", action="append",
                        help="only this file of the room, or this folder (kind/)")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-least", type=float, default=100, metavar="PERCENT",
                        help="how many must be killed of those that could be (default 100)")
    parser.add_argument("--list", action="store_true", help="print the mutants and build nothing")
    parser.add_argument("--quick", action="store_true",
                        help="leave out the mutants that each need a build of their own")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if not args.list:
        # The copy is what is mutated: the tree may go on changing.
        args.tests = prepare(args.room, args.jobs)
    tree = ROOT if args.list else COPY
    paths = [path for path in files_of(tree, args.room)
             if not args.file or any(f"/{name}" in path for name in args.file)]
    if not paths:
        sys.exit(f"error: no file of {args.room} is named {', '.join(args.file)}")
    mutants = [one for path in paths for one in mutants_of(tree, path)]
    if args.sample and args.sample < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    if args.list:
        for mutant in mutants:
            show(mutant)
        print(f"{len(mutants)} mutants")
        return 0
    known = equivalents()
    count = {"killed": 0, "survived": 0, "equivalent": 0, "not compiled": 0,
             "not tried": 0}
    count["equivalent"] = sum(mutant.key() in known for mutant in mutants)
    mutants = [mutant for mutant in mutants if mutant.key() not in known]
    for mutant, word in verdicts(args.room, mutants, args):
        count[word] += 1
        if word == "survived":
            show(mutant)
    tried = count["killed"] + count["survived"]
    if mutants and not tried:
        sys.exit("error: none of the mutants could be tried")
    killed = 100 * count["killed"] / max(tried, 1)
    print(f"killed: {killed:.1f} % of {tried}")
    print(", ".join(f"{number} {word}" for word, number in count.items()))
    return 1 if killed < args.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
