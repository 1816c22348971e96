"""Every command of README, guide and pages: those marked `sh` or `python` run as they stand; of the
others command and flags exist, and the page says in a comment why they are not run."""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import pages
from brought import BROUGHT

PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN",
                                      pages.ROOT / "build/release/assay")).resolve()
RUN = [page for page in pages.PAGES if pages.code_of(page, "sh")]


def name_of(page):
    return str(page.relative_to(pages.ROOT))


@functools.cache
def flags_known(*words):
    """The flags that `assay WORDS --help` lists; None where there is no such command."""
    said = subprocess.run([PROGRAM, *words, "--help-json"], capture_output=True, text=True,
                          check=False)
    if said.returncode or not said.stdout.startswith("{"):
        return None
    return {name for flag in json.loads(said.stdout)["flags"] for name in flag["names"]}


def faults_of(words):
    """What of a call the program does not have. A command may have commands of its own."""
    if words[0].startswith("-") or words[0] in ("COMMAND", "help"):
        return []
    known = flags_known(words[0])
    if known is None:
        return [f"assay {words[0]}: no such command"]
    forms = [form for form in (words[1:2], ["--interleave"]) if form and form[0] in words]
    for form in forms:
        known = known | (flags_known(words[0], *form) or set())
    return [f"assay {words[0]} {flag}: no such flag" for flag in pages.flags_of(words)
            if flag not in known | {"--help"}]


@pytest.mark.parametrize("page", pages.PAGES, ids=name_of)
def test_the_commands_of_a_page_exist(page):
    calls = [words for _, block, _ in pages.blocks_of(page) for words in pages.calls_of(block)]
    assert [fault for words in calls for fault in faults_of(words)] == []


@pytest.mark.parametrize("page", pages.PAGES, ids=name_of)
def test_a_block_that_is_not_run_says_why(page):
    assert pages.unexplained(page) == []


def test_a_block_without_a_reason_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Words.\n\n    assay run --rate 5\n\nMore.\n\n<!-- not run: takes an hour -->"
                    "\n\n    assay curve --quick\n\n```sh\nassay version\n```\n")
    assert pages.unexplained(page) == ["assay run --rate 5"]


def test_what_is_not_there_is_found():
    assert faults_of(["run", "--endpoint", "x", "--no-such"]) == [
        "assay run --no-such: no such flag"]
    assert faults_of(["runn"]) == ["assay runn: no such command"]
    assert faults_of(["safety", "run", "--endpoint", "x"]) == []


def test_calls_and_flags_are_found():
    block = ("assay run --rate=5 \\\n    --samples 3   # why\nx | assay probe\n"
             "mpirun -n 4 assay run --a -- --b\n")
    calls = pages.calls_of(block)
    assert calls == [["run", "--rate=5", "--samples", "3"], ["run", "--a", "--", "--b"]]
    assert [pages.flags_of(words) for words in calls] == [["--rate", "--samples"], ["--a"]]


# A script line that starts a server is followed by a wait until it listens: a person is slower than
# a script. A busy machine (4) is no fault of a page.
WRAPPER = """#!/bin/sh
case "$1" in endpoint | hub | proxy | serve) exec "$ASSAY_REAL" "$@" ;; esac
"$ASSAY_REAL" "$@"
code=$?
test $code = 4 && exit 0
exit $code
"""


def script_of(page):
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for line in pages.code_of(page, "sh").splitlines():
        lines.append(line)
        port = re.search(r"assay (?:endpoint|hub|proxy|serve) .*--port (\d+).*&\s*(?:#.*)?$", line)
        if port:
            lines.append(f"until (exec 3<>/dev/tcp/127.0.0.1/{port[1]}) 2>/dev/null; do "
                         "kill -0 $!; done")
    if pages.code_of(page, "python"):
        lines.append('"$PYTHON" "$PAGE/interpreter.py" "$PAGE/page.py"')
    return "\n".join(lines) + "\n"


# All blocks of a page in one interpreter, with `await` where a notebook has it.
INTERPRETER = """import ast, asyncio, inspect, sys
code = compile(open(sys.argv[1]).read(), "page", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
done = eval(code, {"__name__": "__main__"})
if inspect.iscoroutine(done):
    asyncio.run(done)
"""


def run_page(page, folder):
    """A page's script in a network of its own: its ports are free there, nothing else is reached,
    and what it left running ends with it."""
    bin_, here = folder / "bin", folder / "here"
    bin_.mkdir(parents=True)
    here.mkdir()
    (bin_ / "assay").write_text(WRAPPER)
    (bin_ / "assay").chmod(0o755)
    (folder / "script").write_text(script_of(page))
    (folder / "interpreter.py").write_text(INTERPRETER)
    (folder / "page.py").write_text(pages.code_of(page, "python"))
    BROUGHT.get(name_of(page), lambda _: None)(here)
    return subprocess.run(
        ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "bash", "-c",
         f"ip link set lo up && exec bash {folder}/script"],
        text=True, capture_output=True, cwd=here, check=False, timeout=300,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "ASSAY_REAL": str(PROGRAM),
             "HOME": str(here), "PYTHON": sys.executable, "PAGE": str(folder),
             "ASSAY_BIN": str(PROGRAM), "PYTHONPATH": str(PROGRAM.with_name("python"))})


@pytest.fixture(scope="session", name="ran")
def the_pages_run_side_by_side(tmp_path_factory):
    """They wait for tokens, not for the machine."""
    with concurrent.futures.ThreadPoolExecutor(len(RUN)) as pool:
        yield {page: pool.submit(run_page, page, tmp_path_factory.mktemp(page.stem) / "page")
               for page in RUN}


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_commands_of_a_page_run(page, ran):
    done = ran[page].result()
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_the_pages_that_must_run_do():
    # These two hold settings and clicks, and no commands.
    guide = {name_of(page) for page in pages.PAGES if page.parent.name == "guide"}
    wanted = {"README.md", *guide - {"docs/guide/config.md", "docs/guide/explorer_page.md"},
              *(f"docs/for/{who}.md" for who in (
                  "buyer", "provider", "ci_owner", "submitter", "researcher", "planner"))}
    assert wanted <= {name_of(page) for page in RUN}
