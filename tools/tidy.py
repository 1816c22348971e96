#!/usr/bin/env python3
"""Tidy: the rules of STYLE.md and ARCHITECTURE.md that a program can check.

Each rule is a function from a Tree to faults; RULES at the end lists them. tidy_test.py plants one
fault for each rule and demands that it is found. Run without arguments from anywhere in the
repository; prints `file:line: what is wrong and what to do`, exits 1 when there is any fault.
"""

import pathlib
import re
import subprocess
import sys

from tidy_decisions import (changed_decisions_link_back, decisions_say_what_they_must,
                            fault)

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
BLOB_BYTES_MAX = 1 << 20

CODE = (".h", ".cc", ".py", ".sh", ".cmake", ".ts", ".tsx", ".css")
CPP = (".h", ".cc")
# Recorded bytes and expected outputs are data: they stand as they came.
DATA_FOLDERS = ("tests/data/", "tests/golden/", "web/tests/snapshots/")

# Which library a foreign header belongs to; the names are those of cmake/deps.cmake.
LIBRARY_HEADERS = {
    r"fmt/": {"fmt"},
    r"simdjson\.h": {"simdjson"},
    r"tl/expected\.hpp": {"expected"},
    r"openssl/": {"crypto", "ssl"},
    r"xxhash\.h": {"xxhash"},
    r"nghttp2/": {"nghttp2"},
    r"yaml-cpp/": {"yaml"},
    r"zstd\.h": {"zstd"},
    r"zlib\.h": {"zlib"},
    r"snappy-c\.h": {"snappy"},
    r"lz4\.h": {"lz4"},
    r"brotli/": {"brotli"},
    r"utf8proc\.h": {"utf8proc"},
    r"sqlite3\.h": {"sqlite"},
    r"libpq-fe\.h": {"postgres"},
    r"mpi\.h": {"mpi"},
    r"pybind11/": {"pybind11"},
}
TEST_FILES = re.compile(r"_(test|bench|fuzz)\.cc$|testing\w*\.h$")
TEST_HEADERS = re.compile(r"(gtest|gmock|rapidcheck)[/.]|benchmark/benchmark\.h")
# Ours that may show a foreign header (docs/decisions/0002-dependencies.md).
HEADERS_WITH_LIBRARY = {"src/ground/base/format.h": "fmt", "src/ground/base/result.h": "expected"}
SYSTEM_HEADERS = re.compile(
    r"(sys|netinet|arpa|linux|net|asm)/[\w/]+\.h$"
    r"|(unistd|fcntl|malloc|poll|pthread|sched|signal|netdb|dirent|termios|getopt|spawn|pwd|ifaddrs"
    r"|stdlib|stdio|string|errno|time|math|limits"
    r"|immintrin|x86intrin|cxxabi|dlfcn|wchar|langinfo|execinfo|fnmatch|glob|grp)\.h$"
    r"|[a-z_]+$")  # the standard library: no dot, no slash

BANNED = [
    # (pattern, where, what to do); `where`: a path prefix and suffixes.
    (r"\b(TODO|FIXME|XXX|HACK)\b", "", CODE, "do it now or open an issue"),
    (r"\b[Pp]laceholder", "src/", CPP, "say what it is, or finish it"),
    (r"\b(class|struct|enum class)\s+\w*(Manager|Handler|Helper|Util|Utils|Impl|Base)\b", "src/",
     CPP, "name the thing by what it is (STYLE.md, Words)"),
    (r"\b([Mm]anager|[Hh]elper)s?\b", "src/", CPP, "one word per thing: docs/glossary.md"),
    (r"\b(steady|system|high_resolution)_clock\b|\bclock_gettime\b|\bgettimeofday\b"
     r"|\bstd::time\(", "src/", CPP, "time comes in through Clock (base/clock.h)"),
    (r"\brandom_device\b|\bmt19937|\bdefault_random_engine\b|\bstd::rand\b|\bs?rand\(", "src/",
     CPP, "chance comes in through Rng (base/rng.h)"),
    (r"\bsleep_for\b|\busleep\(|\bnanosleep\(|\bthis_thread::sleep|(?<![\w.:])sleep\(", "src/",
     CPP, "wait for an event, not for time"),
    (r"\btime\.sleep\(|\basyncio\.sleep\(|\bwaitForTimeout\(|^\s*sleep [0-9]", "tests/",
     CODE, "a test waits for an event, not for time"),
    (r"\bwaitForTimeout\(", "web/", (".ts",), "a test waits for an event, not for time"),
    (r"\bGTEST_SKIP\b|\bDISABLED_\w+|\b(test|it)\.skip\b|@pytest\.mark\.skip\b", "", CODE,
     "a test that does not run tests nothing"),
    # Comments that a reader whose first language is another has to read twice (STYLE.md, Words).
    (r"//.*\b[Ss]o (long|many|soon|often)\b(?! (as|that)\b)", "src/", CPP,
     "plain words: at most, this many, as long as"),
    (r"//.*\b(is|are|was|were) (told|said)\b", "src/", CPP,
     "plain words: is passed, is reported, is recorded, is named"),
    (r"//.*\b([Nn]obody|[Ss]omebody|[Ww]hoever)\b(?!`)", "src/", CPP,
     "plain words: no reader, another process, the caller"),
    (r"//(.*[.;:])? Of [a-z]", "src/", CPP, "a sentence begins with its subject"),
    (r"\bfor \([^;]* : (\*[\w:]+\(.*\)|[\w:]+\(.*\)\.value\(\))\)( |$)", "src/", CPP,
     "the result dies before the loop begins: give it a name first"),
    (r"^using namespace (?!.*literals)", "src/", CPP, "name what you use"),
    (r"\bstd::(mutex|condition_variable|lock_guard|unique_lock|scoped_lock)\b", "src/", CPP,
     "Mutex and Lock of base/mutex.h: clang checks what they guard"),
    (r"\bstd::(cout|cerr)\b", "src/", CPP, "results and talk go through cli/console.h"),
    (r"(?<![\w.~-])/(work|farm|root|home|Users)/\w", "", None, "no path of one machine"),
    (r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|deb\.debian\.org)\b", "", None,
     "no package registry by name"),
]
# Where a rule of BANNED is at home.
AT_HOME = {
    "time comes in": ("src/ground/base/",),
    "chance comes in": ("src/ground/base/",),
    "wait for an event, not for time": ("src/ground/base/",),
    "results and talk": ("src/apps/",),
    "Mutex and Lock": ("src/ground/base/",),
}


def listed(root):
    """The files that git has or would take; without git (an unpacked archive), all but build/."""
    # safe.directory: a checkout may belong to another user than the one who tests it.
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], cwd=root, capture_output=True, check=False)
    if done.returncode == 0:
        paths = done.stdout.decode().split("\0")
    else:
        paths = [str(path.relative_to(root)) for path in root.rglob("*")]
        paths = [path for path in paths if not path.startswith((".git/", "build/", "demo/"))]
    return sorted(path for path in paths
                  if path and (root / path).is_file() and not (root / path).is_symlink())


class Tree:
    """The files of the repository: path -> text (None for a binary one)."""

    def __init__(self, files, sizes=None):
        self.files = dict(sorted(files.items()))
        self.sizes = sizes or {path: len(text or "") for path, text in files.items()}

    @staticmethod
    def of_repository(root):
        files, sizes = {}, {}
        for path in listed(root):
            data = (root / path).read_bytes()
            sizes[path] = len(data)
            try:
                files[path] = None if b"\0" in data else data.decode()
            except UnicodeDecodeError:
                files[path] = None
        return Tree(files, sizes)

    def texts(self, prefix="", suffixes=None):
        for path, text in self.files.items():
            if text is None or not path.startswith(prefix) or path.startswith(DATA_FOLDERS):
                continue
            if suffixes is None or path.endswith(tuple(suffixes)):
                yield path, text


# --- the architecture ---------------------------------------------------------------------------


def rooms_of(tree):
    """CMakeLists.txt's assay_room and assay_app lines: name -> (rooms, libraries, group)."""
    rooms, group = {}, None
    for kind, body in re.findall(r"^assay_(group|room|app)\(([^)]*)\)",
                                 tree.files["CMakeLists.txt"], re.M):
        words = body.split()
        if kind == "group":
            group = words[0]
            continue
        lists = {"ROOMS": [], "LIBS": []}
        current = None
        for word in words[1:]:
            if word in lists:
                current = lists[word]
            elif current is not None:
                current.append(word)
        rooms[words[0]] = (list(rooms) if kind == "app" else lists["ROOMS"], lists["LIBS"], group)
    return rooms


def programs_of(tree):
    """Those that may include every room above them."""
    return set(re.findall(r"^assay_app\((\w+)", tree.files["CMakeLists.txt"], re.M))


def room_of(path, rooms):
    """Of a file: src/GROUP/ROOM/…"""
    parts = path.split("/")
    name = parts[2] if len(parts) > 3 else None
    return name if name in rooms and rooms[name][2] == parts[1] else None


def path_of(include, rooms):
    """(room, file) that `#include "ROOM/…"` means."""
    name = include.split("/")[0]
    return (name, f"src/{rooms[name][2]}/{include}") if name in rooms else (None, include)


def includes_of(text):
    """(line number, form, name) of each #include."""
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)', text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def rooms_are_in_order(tree):
    seen = set()
    for name, (uses, _, _) in rooms_of(tree).items():
        for room in uses:
            if room not in seen:
                yield fault("CMakeLists.txt", 1, f"{name} uses {room}, which is not above it")
        seen.add(name)


def includes_follow_the_rooms(tree):
    rooms = rooms_of(tree)
    for path, text in tree.texts("src/", CPP):
        room = room_of(path, rooms)
        if room is None:
            yield fault(path, 1, "is in no room that CMakeLists.txt names")
            continue
        allowed = set(rooms[room][0]) | {room}
        for line, form, name in includes_of(text):
            if form == '"':
                target, file = path_of(name, rooms)
                if file not in tree.files:
                    yield fault(path, line, f"no file {file}; includes begin with a room's name")
                elif target not in allowed:
                    yield fault(path, line, f"{room} may not include {target} (CMakeLists.txt)")


def arrows_are_used(tree):
    """A room says what it needs, and no more: by what its own code includes, tests apart."""
    rooms = rooms_of(tree)
    used = {room: set() for room in rooms}
    for path, text in tree.texts("src/", CPP):
        room = room_of(path, rooms)
        if room is None or TEST_FILES.search(path):
            continue
        for _, form, name in includes_of(text):
            if form == '"':
                used[room].add(path_of(name, rooms)[0])
            else:
                used[room].update(*(libs for pattern, libs in LIBRARY_HEADERS.items()
                                    if re.match(pattern, name)))
    for room, (uses, libraries, _) in rooms.items():
        declared = libraries if room in programs_of(tree) else uses + libraries
        for name in declared:
            if name not in used[room]:
                yield fault("CMakeLists.txt", 1, f"{room} names {name} and includes nothing of it")


def libraries_stay_in_their_rooms(tree):
    rooms = rooms_of(tree)
    for path, text in tree.texts("src/", CPP):
        room = room_of(path, rooms)
        if room is None:
            continue
        for line, form, name in includes_of(text):
            if form != "<":
                continue
            owner = next((libs for pattern, libs in LIBRARY_HEADERS.items()
                          if re.match(pattern, name)), None)
            if TEST_HEADERS.match(name):
                if not TEST_FILES.search(path):
                    yield fault(path, line, f"<{name}> belongs in a test or a benchmark")
            elif owner is None:
                if not SYSTEM_HEADERS.match(name):
                    yield fault(path, line, f"<{name}> is of no library that tools/tidy.py knows")
            elif path.endswith(".h"):
                if HEADERS_WITH_LIBRARY.get(path) not in owner:
                    yield fault(path, line, f"<{name}>: no foreign library in a header of ours")
            elif not owner & set(rooms[room][1]):
                yield fault(path, line, f"<{name}>: CMakeLists.txt does not give it to {room}")


def command_groups_keep_apart(tree):
    """src/apps/cli/GROUP/: what two groups of commands need stands beside them, or in a room."""
    for path, text in tree.texts("src/apps/cli/", CPP):
        parts = path.split("/")
        own = parts[3] if len(parts) > 4 else None
        for line, form, name in includes_of(text):
            words = name.split("/")
            if form == '"' and words[0] == "cli" and len(words) > 2 and words[1] != own:
                yield fault(path, line, f"{own or 'cli'} may not include the commands of "
                            f"{words[1]}")


def headers_do_not_go_in_circles(tree):
    rooms = rooms_of(tree)
    graph = {path: [path_of(name, rooms)[1] for _, form, name in includes_of(text) if form == '"']
             for path, text in tree.texts("src/", (".h",))}
    done, trail = set(), []

    def visit(path):
        if path in trail:
            yield fault(path, 1, "includes itself: " + " -> ".join(trail[trail.index(path):] +
                                                                   [path]))
        elif path not in done and path in graph:
            trail.append(path)
            for target in graph[path]:
                yield from visit(target)
            trail.pop()
            done.add(path)

    for path in graph:
        yield from visit(path)


def folders_of_a_room_do_not_go_in_circles(tree):
    """src/GROUP/ROOM/FOLDER/. A source and its header beside the folders count as one."""
    rooms, graph = rooms_of(tree), {}
    for path, text in tree.texts("src/", CPP):
        for _, form, name in [] if TEST_FILES.search(path) else includes_of(text):
            parts = [re.sub(r"\.\w+$", "", "/".join(one.split("/")[:4]))
                     for one in (path, path_of(name, rooms)[1])]
            if form == '"' and name.split("/")[0] == room_of(path, rooms):
                graph.setdefault(parts[0], set()).add(parts[1])
    for folder in {"/".join(path.split("/")[:4]) for path in tree.files if path.count("/") > 3}:
        reached, fresh = set(), {folder}
        while fresh := set().union(*(graph.get(one, set()) - {one} for one in fresh)) - reached:
            reached |= fresh
        if folder in reached:
            users = sorted(one for one in reached if folder in graph.get(one, ()))
            yield fault(folder, 1, f"includes itself, by way of {', '.join(users)}")


# --- size and shape -----------------------------------------------------------------------------


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_comments_and_strings(text):
    """The same length and lines; what is inside comments, strings and characters is blank."""
    pattern = (r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"'
               r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*(?:.|\n)*?\*/")
    return re.sub(pattern, blank, text)


def functions_of(text):
    """(first line, last line) of each function body. Lambdas count to the function around them."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, without_comments_and_strings(text),
                  flags=re.M)
    stack, statement = [], 0
    for match in re.finditer(r"[{};]", code):
        at, char = match.start(), match.group()
        head = code[statement:at].strip()
        if char == "{":
            inside = "function" in stack
            is_container = re.search(
                r"\b(namespace|class|struct|enum|union|extern)\b[^()=]*$", head)
            is_function = re.search(r"\)[\w\s&>:*<,]*$|\)\s*->[^;]*$|\)\s*:\s*.*$", head, re.S)
            if not inside and not is_container and is_function:
                stack.append("function")
                first = code.count("\n", 0, at) + 1
            else:
                stack.append("inner" if inside else "container")
        elif char == "}" and stack:
            if stack.pop() == "function":
                yield first, code.count("\n", 0, at) + 1
        statement = match.end()


def functions_are_short(tree):
    for path, text in tree.texts("", CPP):
        for first, last in functions_of(text):
            if last - first + 1 > FUNCTION_LINES_MAX:
                yield fault(path, first, f"function of {last - first + 1} lines; "
                            f"{FUNCTION_LINES_MAX} is the limit")


NAMED_TYPE = re.compile(r"(?:template\s*<.*>\s*)?(?:struct|class|enum class|enum)\s+(\w+)")
NAMED_ALIAS = re.compile(r"using\s+(\w+)\s*=\s*(.*)")
NAMED_FUNCTION = re.compile(r"[\w:<>,&*\[\]\s]*?[\s&*>](\w+)\(")
NAMED_VALUE = re.compile(r"(?:inline |static )*const(?:expr)? [\w:<>,&*\s]*?[\s&*>](\w+)\s*[={\[]")


def anonymous_names(text):
    """(line, name, what it stands for) of what a file defines in its anonymous namespaces."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line == "namespace {":
            inside = True
        elif line.strip() == "}  // namespace":
            inside = False
        elif inside and line and line[0] not in " }#/)":
            if alias := NAMED_ALIAS.match(line):
                yield number, alias.group(1), alias.group(2)
            elif named := (NAMED_TYPE.match(line) or NAMED_VALUE.match(line)
                           or (not re.match(r"TEST|INSTANTIATE|MATCHER|static_assert", line)
                               and NAMED_FUNCTION.match(line))):
                yield number, named.group(1), None


def anonymous_names_are_unique(tree):
    """A room compiles in batches of files, in which an overload of another file could be taken."""
    rooms, programs, first = rooms_of(tree), programs_of(tree), {}
    for path, text in sorted(tree.files.items()):
        room = room_of(path, rooms)
        if not room or room in programs or not path.endswith(".cc") \
                or re.search(r"_(fuzz|bench)\.cc$", path):
            continue
        for line, name, meaning in anonymous_names(text):
            key = room, path.endswith("_test.cc"), name
            other, meant = first.setdefault(key, (path, meaning))
            if other != path and (meaning is None or meaning != meant):
                yield fault(path, line, f"{name}: {other} has this name too, and both may "
                            "compile in one batch; give one another name")


def files_are_short(tree):
    for path, text in tree.texts("", CODE):
        lines = text.count("\n")
        if lines > FILE_LINES_MAX:
            yield fault(path, lines, f"{lines} lines; {FILE_LINES_MAX} is the limit: two things?")


def lines_are_clean(tree):
    for path, text in tree.texts():
        is_code = path.endswith(CODE) or path.endswith("CMakeLists.txt")
        if text and not text.endswith("\n"):
            yield fault(path, text.count("\n") + 1, "no line end at the end of the file")
        for number, line in enumerate(text.split("\n"), 1):
            if "\t" in line and path.endswith(CODE):
                yield fault(path, number, "a tab")
            if line.endswith("\r"):
                yield fault(path, number, "CRLF")
            elif line != line.rstrip():
                yield fault(path, number, "space at the end of the line")
            # A URL or a raw string can't be broken.
            if is_code and len(line) > COLUMNS_MAX and "://" not in line and 'R"' not in line:
                yield fault(path, number, f"{len(line)} columns; {COLUMNS_MAX} is the limit")


def blobs_are_small(tree):
    for path, size in tree.sizes.items():
        if size > BLOB_BYTES_MAX:
            yield fault(path, 1, f"{size} bytes; {BLOB_BYTES_MAX} is the limit for a file in git")


# --- words --------------------------------------------------------------------------------------


def banned_words_are_absent(tree):
    for pattern, prefix, suffixes, advice in BANNED:
        compiled = re.compile(pattern)
        home = next((folders for start, folders in AT_HOME.items() if advice.startswith(start)),
                    ())
        for path, text in tree.texts(prefix, suffixes):
            # This file holds the patterns, its test the planted faults.
            if path.startswith(("tools/tidy",) + home):
                continue
            for number, line in enumerate(text.split("\n"), 1):
                found = compiled.search(line)
                if found:
                    yield fault(path, number, f"'{found.group().strip()}': {advice}")


def names_of_files_are_words(tree):
    for path in tree.files:
        name = path.rsplit("/", 1)[-1]
        if path.startswith("src/") and not re.fullmatch(r"[a-z0-9_]+\.(h|cc|sql|html|css|js|txt)",
                                                        name):
            yield fault(path, 1, "files under src/ are snake_case")
        if re.search(r"(^|_)(util|utils|helper|helpers|manager|misc|common)(_|\.)", name):
            yield fault(path, 1, "name the file by what is in it")


def headers_open_with_a_paragraph(tree):
    for path, text in tree.texts("src/", (".h",)):
        if not text.startswith("// "):
            yield fault(path, 1, "a header opens with a paragraph that a newcomer can use")
        if "\n#pragma once\n" not in text:
            yield fault(path, 1, "no #pragma once")


# --- nothing lies about ------------------------------------------------------------------------


def no_file_is_an_orphan(tree):
    rooms = rooms_of(tree)
    included = {path_of(name, rooms)[1] for _, text in tree.texts("", CPP)
                for _, form, name in includes_of(text) if form == '"'}
    for path, _ in tree.texts("src/", (".h",)):
        if path not in included:
            yield fault(path, 1, "no file includes this header")
    everything = "\n".join(text for path, text in tree.texts())
    for folder in ("tools/", "cmake/", "examples/"):
        for path, text in tree.texts(folder):
            name = path.rsplit("/", 1)[-1]
            stem = name.removesuffix(".cmake")
            elsewhere = everything.count(stem) - text.count(stem)
            if elsewhere == 0:
                yield fault(path, 1, "no other file names this one")


def without_fences(text):
    return re.sub(r"^```.*?^```[^\n]*$", blank, text, flags=re.M | re.S)


def markdown_has_one_title(tree):
    for path, text in tree.texts("", (".md",)):
        titles = re.findall(r"^# .+$", without_fences(text), re.M)
        if len(titles) != 1 or not text.startswith("# "):
            yield fault(path, 1, f"{len(titles)} titles; a document opens with its one title")


def references_lead_somewhere(tree):
    paths = set(tree.files)
    folders = {path[:at] for path in paths for at in range(len(path)) if path[at] == "/"}
    for path, text in tree.texts("", (".md",)):
        base = pathlib.PurePosixPath(path).parent
        for match in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", without_fences(text)):
            target = match.group(1)
            if "://" in target or target.startswith("mailto:"):
                continue
            parts = []
            for part in (base / target).parts:
                if part == ".." and parts:
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            if "/".join(parts) not in paths | folders:
                line = text.count("\n", 0, match.start()) + 1
                yield fault(path, line, f"links to {target}, which is not there")
    for path, text in tree.texts("", CODE + (".md",)):
        for match in re.finditer(r"\bdocs/(decisions/\d{4}|[\w/.-]+\.md)\b", text):
            if not any(other.startswith(match.group()) for other in paths):
                line = text.count("\n", 0, match.start()) + 1
                yield fault(path, line, f"names {match.group()}, which is not there")


def changelog_knows_the_version(tree):
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", tree.files["CMakeLists.txt"]).group(1)
    changelog = tree.files.get("CHANGELOG.md") or ""
    if not re.search(rf"^## {re.escape(version)}\b", changelog, re.M):
        yield fault("CHANGELOG.md", 1, f"says nothing of {version}, the version of CMakeLists.txt")


def libraries_have_a_notice(tree):
    """Whoever passes the program on has to say what is in it, and under which licence."""
    notices = tree.files.get("THIRD_PARTY_NOTICES.md") or ""
    rows = {cells[1].strip(" `"): [cell.strip() for cell in cells[2:-1]]
            for cells in (line.split("|") for line in notices.splitlines()) if len(cells) > 2}
    linked = {library for _, libraries, _ in rooms_of(tree).values() for library in libraries}
    for library in sorted(linked):
        if library not in rows:
            yield fault("THIRD_PARTY_NOTICES.md", 1, f"no row for `{library}`, which is linked")
        elif not all(rows[library]):
            yield fault("THIRD_PARTY_NOTICES.md", 1, f"the row of `{library}` has an empty cell")


RULES = [
    rooms_are_in_order,
    includes_follow_the_rooms,
    arrows_are_used,
    libraries_stay_in_their_rooms,
    command_groups_keep_apart,
    headers_do_not_go_in_circles,
    folders_of_a_room_do_not_go_in_circles,
    functions_are_short,
    anonymous_names_are_unique,
    files_are_short,
    lines_are_clean,
    blobs_are_small,
    banned_words_are_absent,
    names_of_files_are_words,
    headers_open_with_a_paragraph,
    no_file_is_an_orphan,
    markdown_has_one_title,
    references_lead_somewhere,
    decisions_say_what_they_must,
    changed_decisions_link_back,
    changelog_knows_the_version,
    libraries_have_a_notice,
]


def faults_of(tree):
    return [found for rule in RULES for found in rule(tree)]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    tree = Tree.of_repository(root)
    faults = faults_of(tree)
    for found in faults:
        print(found)
    print(f"tidy: {len(tree.files)} files, {len(RULES)} rules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
