"""Every command of README, guide and pages: those marked `sh` run as they stand, of the others
command and flags exist. No page may show a command that the program has not."""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess

import pytest

import pages

PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN",
                                      pages.ROOT / "build/release/assay")).resolve()
RUN = [page for page in pages.PAGES if pages.shell_of(page)]


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
    calls = [words for block in pages.blocks_of(page) for words in pages.calls_of(block)]
    assert [fault for words in calls for fault in faults_of(words)] == []


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


# A script line that starts an endpoint is followed by a wait until it listens: a person is slower
# than a script. A busy machine (4) is no fault of a page.
WRAPPER = """#!/bin/sh
[ "$1" = endpoint ] && exec "$ASSAY_REAL" "$@"
"$ASSAY_REAL" "$@"
code=$?
test $code = 4 && exit 0
exit $code
"""


def script_of(page):
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for line in pages.shell_of(page).splitlines():
        lines.append(line)
        port = re.search(r"assay endpoint .*--port (\d+).*&$", line)
        if port:
            lines.append(f"until (exec 3<>/dev/tcp/127.0.0.1/{port[1]}) 2>/dev/null; do "
                         "kill -0 $!; done")
    return "\n".join(lines) + "\n"


def run_page(page, folder):
    """A page's script in a network of its own: its ports are free there, nothing else is reached,
    and what it left running ends with it."""
    bin_, here = folder / "bin", folder / "here"
    bin_.mkdir(parents=True)
    here.mkdir()
    (bin_ / "assay").write_text(WRAPPER)
    (bin_ / "assay").chmod(0o755)
    (folder / "script").write_text(script_of(page))
    return subprocess.run(
        ["unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "bash", "-c",
         f"ip link set lo up && exec bash {folder}/script"],
        text=True, capture_output=True, cwd=here, check=False, timeout=300,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "ASSAY_REAL": str(PROGRAM),
             "HOME": str(here)})


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
    wanted = {"README.md", "docs/guide/install.md", "docs/guide/hosts.md",
              *(f"docs/for/{who}.md" for who in (
                  "buyer", "provider", "ci_owner", "submitter", "researcher", "planner"))}
    assert wanted <= {name_of(page) for page in RUN}
