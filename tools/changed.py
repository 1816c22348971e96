"""What a change reaches: from the names of changed files to what has to be tested again.

A test file reaches its own room. A source file reaches its room and those whose CMakeLists.txt line
names that room. A header reaches every room with a file that includes it, however far away. So a
change inside a room costs seconds, and a change of base's headers costs what it must.
"""

import pathlib
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


class Reached:
    """What has to be tested again."""

    def __init__(self, tree, files):
        self.rooms, self.end_to_end, self.sections = set(), [], {"tidy"}
        rooms = tidy.rooms_of(tree)
        graph = includers(tree, rooms)
        for path in files:
            room = tidy.room_of(path, rooms)
            if path.startswith("tests/e2e/") and path.endswith("_test.py"):
                self.end_to_end.append(path)
            elif path.startswith("web/"):
                self.sections.add("web")
            elif path.startswith(("README.md", "docs/guide/", "docs/for/", "docs/notebooks/",
                                  "tests/docs/", "tools/site.py")):
                self.sections.add("docs")
            elif path.startswith("tests/peers/"):
                self.sections.add("peers")
            elif path.startswith(("packaging/", "tests/package/")):
                self.sections.add("package")
            elif path.startswith("python/"):
                self.sections.update({"peers", "package"})
            elif path == "CMakeLists.txt" or path.startswith("cmake/"):
                self.rooms.update(rooms)
            elif path.startswith(("catalogue/", "workloads/", "tasks/", "safety/", "examples/")):
                self.rooms.update({"sim", "plan", "safety"})
            elif room is not None:
                self.rooms.update(self.of_source(path, room, rooms, graph))

    @staticmethod
    def of_source(path, room, rooms, graph):
        if tidy.TEST_FILES.search(path):
            return {room}
        if not path.endswith(".h"):
            return {room} | {name for name, (uses, _, _) in rooms.items() if room in uses}
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
