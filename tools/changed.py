"""What a change reaches: from the names of changed files to what has to be tested again.

A test file reaches its own room. A source file reaches its room and those whose CMakeLists.txt line
names that room. A header reaches every room with a file that includes it, however far away. So a
change inside a room costs seconds, and a change of base's headers costs what it must. A file that
tests read reaches the rooms and the end-to-end tests that name it, or a folder above it. Where the
program changes what it does, one run end to end is tested too.
"""

import pathlib
import re
import subprocess

import tidy


def files_since(root, reference):
    """Paths that differ from the reference, with what is not committed or not yet tracked."""

    def git(*words):
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"git {' '.join(words)}: {done.stderr.strip()}")
        return [line for line in done.stdout.split("\n") if line]

    return sorted({*git("diff", "--name-only", reference),
                   *git("ls-files", "--others", "--exclude-standard")})


def includers(tree, rooms):
    """file -> the files that include it."""
    graph = {}
    for path, text in tree.texts("", tidy.CPP):
        for _, form, name in tidy.includes_of(text):
            if form == '"':
                graph.setdefault(tidy.path_of(name, rooms)[1], set()).add(path)
    return graph


def named_in(path, tree):
    """The files under src/ and tests/ that name a file, or else the nearest folder above it."""
    place = path
    while place.count("/") > 1:
        by = [user for user, text in tree.texts("", (*tidy.CPP, ".py"))
              if user.startswith(("src/", "tests/")) and user != path and place in text]
        if by:
            return by
        place = place.rpartition("/")[0]
    return []


class Reached:
    """What has to be tested again; `uncovered`: the changed files of which nothing is tested."""

    SECTIONS = [
        (("web/",), {"web"}),
        (("README.md", "docs/", "tests/docs/", "tools/site.py"), {"docs"}),
        (("tests/peers/",), {"peers"}),
        (("packaging/", "tests/package/", "tests/install/"), {"package"}),
        (("python/",), {"peers", "package"}),
    ]
    RUN = "tests/e2e/verify_test.py"

    def __init__(self, tree, files):
        self.rooms, self.end_to_end, self.sections, self.uncovered = set(), [], {"tidy"}, []
        rooms = tidy.rooms_of(tree)
        graph = includers(tree, rooms)
        for path in files:
            if not self.add(path, tree, rooms, graph):
                self.uncovered.append(path)
        if self.rooms & {"run", "protocol", "record", "metrics", "plan", "campaign", "cli"}:
            self.end_to_end.append(self.RUN)
        self.end_to_end = sorted({path for path in self.end_to_end if path in tree.files})

    def add(self, path, tree, rooms, graph):
        """Whether a test reads the file."""
        for begins, sections in self.SECTIONS:
            if path.startswith(begins):
                self.sections |= sections
                return True
        room = tidy.room_of(path, rooms)
        if path.startswith("tests/e2e/") and path.endswith("_test.py"):
            self.end_to_end.append(path)
        elif path == "CMakeLists.txt" or path.startswith("cmake/"):
            self.rooms.update(rooms)
        elif path.startswith(("catalogue/", "workloads/", "tasks/", "safety/", "examples/")):
            self.rooms.update({"sim", "plan", "safety"})
        elif path.startswith("tools/"):
            return True  # tidy runs the tests of tools
        elif room is not None:
            self.rooms.update(self.of_source(path, room, rooms, graph))
        elif path.startswith(("tests/golden/", "tests/fuzz/", "tests/data/", "tests/sim/")):
            return self.of_data(path, tree, rooms)
        else:
            return False
        return True

    def of_data(self, path, tree, rooms):
        folder = path.split("/")[2]
        by = [user for user in tree.files if user.endswith(f"/{folder}.cc")] \
            if path.startswith("tests/fuzz/") else named_in(path, tree)
        if path.startswith("tests/golden/") and folder in rooms:
            self.rooms.add(folder)
            return True
        self.rooms.update(filter(None, (tidy.room_of(user, rooms) for user in by)))
        self.end_to_end += [user for user in by if re.match(r"tests/e2e/\w+_test\.py$", user)]
        return bool(by)

    @staticmethod
    def of_source(path, room, rooms, graph):
        if not path.endswith(".h"):
            of_tests = tidy.TEST_FILES.search(path)
            return {room} if of_tests else {room} | {
                name for name, (uses, _, _) in rooms.items() if room in uses}
        reached, waiting = {room}, [path]
        seen = set(waiting)
        while waiting:
            for user in graph.get(waiting.pop(), set()) - seen:
                seen.add(user)
                if user.endswith(".h"):
                    waiting.append(user)
                if tidy.room_of(user, rooms):
                    reached.add(tidy.room_of(user, rooms))
        return reached


def reached_since(root, reference):
    return Reached(tidy.Tree.of_repository(pathlib.Path(root)), files_since(root, reference))
