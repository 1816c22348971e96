#!/usr/bin/env python3
"""Mutations of the core: does a unit test of the room fail when one expression of it is wrong?

For each room a fixed set of files is mutated, one expression at a time: a comparison, an operator,
a constant, a condition, a statement left out, one instant or field for another. Each mutant is
built in a copy of the tree (build/mutate/tree) and run against the unit tests of its own room only.
A mutant that those tests pass has survived: either a test is missing, or the mutant is equivalent,
and then tools/mutate_equivalent.txt says why.

    tools/mutate.py run --sample 60              60 mutants of the room, drawn by --seed
    tools/mutate.py protocol --file exchange.cc  all mutants of one file
    tools/mutate.py run --list                   print the mutants, build nothing

The last line is `N killed, N survived, N equivalent, N not compiled`; the exit code is 1 when one
survived. A room takes some minutes; the test suite does not run this, `./assay.sh test full` does.
"""

import argparse
import dataclasses
import difflib
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutate" / "tree"
BUILD = ROOT / "build" / "mutate" / "build"
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.txt"

# What of a room is mutated: what a figure goes through.
ROOMS = {
    "run": ["run.cc", "run.h", "conversations.cc", "by_endpoint.h"],
    "protocol": ["exchange.cc", "http_target.cc", "http_target_ends.cc", "http_target_pool.cc",
                 "http_target_receive.cc", "http_target_send.cc", "reply_decoder.cc",
                 "reply_fields.cc", "json_cursor.cc", "json_cursor.h", "whole_reply.cc",
                 "request.cc", "prepared_requests.cc"],
    "record": ["block.cc", "event_codec.cc", "event_log_reader.cc", "event_log_writer.cc",
               "replay_run.cc", "clock_map.cc", "clock_shift.cc", "client_audit_json.cc",
               "run_info_json.cc", "journal.cc"],
    "metrics": ["point_fold.cc", "reply_fold.cc", "series.cc", "series.h", "distribution.h",
                "steady_state.cc", "trend.cc", "timeline_fold.cc", "curve.cc",
                "early_stopping.cc", "token_counts.cc"],
    "audit": ["innocence.cc"],
    "decide": ["limit.cc", "served.cc", "rank.cc"],
    "net": ["http1_response.cc", "http1_request.cc", "sse.h", "sse.cc", "content_headers.cc",
            "http_reply.cc", "receive.cc", "url.cc"],
}

# Names of which one can stand for the other without the compiler's objecting.
SWAPS = [
    ("arrival", "read"), ("due", "sent"), ("first_token", "first_visible"),
    ("first_token", "last_token"), ("first_byte", "first_event"), ("issued", "completed"),
    ("completed", "failed"), ("prompt_tokens", "completion_tokens"),
    ("reasoning_tokens", "cached_tokens"), ("started", "ended"), ("min", "max"),
    ("front", "back"), ("begin", "end"),
]
OPERATORS = [
    (r"(?<![<>=!\-+*/&|^])<(?![<=>])", ["<=", ">="], "spaced"),
    (r"(?<![<>=!\-+*/&|^])>(?![>=])", [">=", "<="], "spaced"),
    (r"<=(?!>)", ["<", ">"], None), (r">=", [">", "<"], None),
    (r"==", ["!="], None), (r"!=", ["=="], None),
    (r"&&", ["||"], None), (r"\|\|", ["&&"], None),
    (r"\+=", ["-="], None), (r"-=", ["+="], None),
    (r"(?<=[\w)\]]) \+ (?=[\w(])", [" - "], None), (r"(?<=[\w)\]]) - (?=[\w(])", [" + "], None),
    (r"(?<=[\w)\]]) \* (?=[\w(])", [" / "], None), (r"(?<=[\w)\]]) / (?=[\w(])", [" * "], None),
    (r"\+\+(?=\w)", ["--"], None), (r"\btrue\b", ["false"], None), (r"\bfalse\b", ["true"], None),
    (r"(?<![\w.'])(\d+)(?![\w.'])", ["+1"], "number"),
    (r"!(?=[\w(])", [""], None),
]
STATEMENT = re.compile(r"^\s+(?!return|break|continue|case|default|if|for|while|using|const |auto "
                       r"|CHECK|static|struct|enum|friend|delete|throw|TRY|\})[\w*+\-(][^{}]*;$")


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
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text).split("\n")


def words_of_line(raw, code):
    """All lines that one change of this line gives."""
    for pattern, replacements, how in OPERATORS:
        for match in re.finditer(pattern, code):
            if how == "spaced" and (code[match.start() - 1] != " "
                                    or code[match.end():match.end() + 1] != " "):
                continue  # a template's bracket
            for replacement in replacements:
                if how == "number":
                    if int(match.group()) > 2:
                        continue  # a size or a limit: one more of it means nothing
                    replacement = str(int(match.group()) + 1)
                yield raw[:match.start()] + replacement + raw[match.end():]
    for one, other in SWAPS:
        for old, new in ((one, other), (other, one)):
            for match in re.finditer(rf"(?<=[.>:]){old}\b(?!\s*=[^=])", code):
                yield raw[:match.start()] + new + raw[match.end():]
    match = re.match(r"^(\s*(?:\} else )?if \()(.*)(\)\s*(?:\{|return.*;|continue;|break;)?)$",
                     code)
    if match and match.group(2)[0] != "!" and "=" not in re.sub(r"[=!<>]=", "", match.group(2)):
        start, end = match.span(2)
        yield f"{raw[:start]}!({raw[start:end]}){raw[end:]}"
    declared = code.rstrip().endswith(("= delete;", "= default;"))
    if STATEMENT.match(code) and not declared and code.count("(") == code.count(")"):
        yield ""


def mutants_of(tree, path):
    lines = (tree / path).read_text().split("\n")
    code = code_of(lines)
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
        for new in words_of_line(raw, clean):
            if new in seen or (new == "" and not whole):
                continue
            seen.add(new)
            out.append(Mutant(path, number, raw, new))
    return out


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


def prepare(room, jobs):
    """A copy of the tracked files, built. Files that did not change keep their times."""
    names = sh("git", "-C", ROOT, "ls-files").stdout.split("\n")
    for name in filter(None, names):
        source, target = ROOT / name, COPY / name
        if source.is_file() and not (target.exists()
                                     and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    done = sh("cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
              "-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_CXX_FLAGS_DEBUG=", "-DASSAY_WEB=OFF",
              "-DASSAY_UNITY=ON", f"-DASSAY_SINGLE={room}")
    if done.returncode == 0:
        done = sh("ninja", "-C", BUILD, "-j", jobs, f"{room}_test")
    if done.returncode == 0:
        done = sh(BUILD / f"{room}_test", "--gtest_brief=1", timeout=600)
    if done is None or done.returncode:
        sys.exit(f"{room}_test does not pass before any mutation:\n{done and done.stdout[-3000:]}")


def verdict(room, mutant, jobs, seconds):
    target = COPY / mutant.path
    text = target.read_text()
    lines = text.split("\n")
    lines[mutant.line] = mutant.new
    target.write_text("\n".join(lines))
    try:
        built = sh("ninja", "-C", BUILD, "-j", jobs, f"{room}_test", timeout=900)
        if built is None or built.returncode:
            return "not compiled"
        ran = sh(BUILD / f"{room}_test", "--gtest_brief=1", "--gtest_fail_fast", timeout=seconds)
        return "survived" if ran is not None and ran.returncode == 0 else "killed"
    finally:
        target.write_text(text)


def show(mutant):
    diff = difflib.ndiff([mutant.old.strip()], [mutant.new.strip() or "(left out)"])
    words = [line for line in diff if line[0] in "-+"]
    print(f"{mutant.path}:{mutant.line + 1}\n    " + "\n    ".join(words), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--file", action="append", help="only this file of the room")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the mutants and build nothing")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=120, help="longer than that: killed")
    args = parser.parse_args()
    files = args.file or ROOMS[args.room]
    folder = next((ROOT / "src").glob(f"*/{args.room}")).relative_to(ROOT)
    paths = [f"{folder}/{name}" for name in files]
    if not args.list:
        prepare(args.room, args.jobs)  # the copy is what is mutated: the tree may go on changing
    tree = ROOT if args.list else COPY
    mutants = [one for path in paths if (tree / path).exists() for one in mutants_of(tree, path)]
    if args.sample and args.sample < len(mutants):
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    if args.list:
        for mutant in mutants:
            show(mutant)
        print(f"{len(mutants)} mutants")
        return 0
    known = equivalents()
    count = {"killed": 0, "survived": 0, "equivalent": 0, "not compiled": 0}
    for mutant in mutants:
        if mutant.key() in known:
            count["equivalent"] += 1
            continue
        word = verdict(args.room, mutant, args.jobs, args.seconds)
        count[word] += 1
        if word == "survived":
            show(mutant)
    tried = count["killed"] + count["survived"]
    if tried:
        print(f"killed: {100 * count['killed'] / tried:.1f} % of {tried}")
    print(", ".join(f"{number} {word}" for word, number in count.items()))
    return 1 if count["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
