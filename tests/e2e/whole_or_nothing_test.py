"""What others read stands under its name whole or not at all: whatever ends the program on the way,
and however full the disk is. A limit on the size of files (RLIMIT_FSIZE) is met as a full disk is;
kill_point.c kills at a chosen write, sync or rename."""

import json
import os
import pathlib
import resource
import signal
import subprocess

import pytest
from conftest import TIMEOUT_S, program

PART = ".assay-part"


def limited(args, bytes_max):
    """Runs with files limited to so many bytes."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, resource.RLIM_INFINITY))
    return subprocess.run([program(), *map(str, args)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=prepare)


@pytest.fixture(scope="session")
def killed_at(tmp_path_factory):
    """A function: runs assay until its nth step to a file, if it has so many."""
    shim = tmp_path_factory.mktemp("shim") / "kill_point.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim,
                    pathlib.Path(__file__).with_name("kill_point.c"), "-ldl"], check=True)

    def run(args, point):
        return subprocess.run([program(), *map(str, args)], capture_output=True, text=True,
                              timeout=TIMEOUT_S,
                              env={**os.environ, "LD_PRELOAD": str(shim),
                                   "KILL_POINT": str(point)})
    return run


def points():
    """1, 2, 3, 4, 5, then ever further apart: the first steps matter, and some have thousands."""
    point = 1
    while True:
        yield point
        point = max(point + 1, point * 5 // 4)


def sizes_below(path):
    if path.is_file():
        return {path.stat().st_size}
    return {file.stat().st_size for file in path.rglob("*") if file.is_file()}


@pytest.fixture
def run(assay, endpoint, tmp_path):
    folder = tmp_path / "run"
    assay("run", "--endpoint", endpoint("--osl", 4).url, "--model", "m", "--samples", 8, "--quiet",
          "--report-dir", folder, "--allow-client-limited")
    return folder


@pytest.fixture
def results(tmp_path):
    """Another tool's results: ten requests of vLLM's bench."""
    file = tmp_path / "vllm.json"
    file.write_text(json.dumps({
        "backend": "openai-chat", "model_id": "m", "num_prompts": 10, "completed": 10,
        "duration": 2.0, "request_rate": "inf", "input_lens": [8] * 10, "output_lens": [3] * 10,
        "start_times": [i / 10 for i in range(10)], "ttfts": [0.01] * 10,
        "itls": [[0.002, 0.002]] * 10, "errors": [""] * 10}))
    return file


def swept(assay, killed_at, command, out):
    """Fills the disk at every size that a file of the result has, kills at its steps, makes it."""
    first = out.with_name("first" + out.suffix)
    assay(*command(first))
    sizes = sizes_below(first)
    before = set(os.listdir(out.parent))
    for bytes_max in sorted({0, 1, *(size - 1 for size in sizes if size > 0)}):
        done = limited(command(out), bytes_max)
        assert done.returncode == 8 and "File too large" in done.stderr, done.stderr
        assert set(os.listdir(out.parent)) == before, bytes_max
    remains = 0
    for point in points():
        done = killed_at(command(out), point)
        if out.exists():
            break  # it had fewer steps, or the last of them came after the name
        assert done.returncode == -signal.SIGKILL, done.stderr
        remains += (out.parent / (out.name + PART)).exists()
    assert remains > 0, "some kill came while the result was being written"
    assert len(sizes_below(out)) == len(sizes), "it is whole"
    assert set(os.listdir(out.parent)) == before | {out.name}, "no remains"
    return point


def test_a_tree_of_runs(assay, killed_at, run, tmp_path):
    assert swept(assay, killed_at, lambda out: ("pack", run, "--out", out, "--max-concurrency", 1),
                 tmp_path / "tree") > 5


def test_a_bundle(assay, killed_at, run, tmp_path):
    swept(assay, killed_at, lambda out: ("bundle", run, "--output", out), tmp_path / "b.tar")


def test_another_tools_results(assay, killed_at, results, tmp_path):
    swept(assay, killed_at, lambda out: ("convert", results, out), tmp_path / "converted")


@pytest.mark.parametrize("args", [("--html",), ("--format", "csv", "--out"), ("--events-jsonl",)])
def test_a_report(assay, killed_at, run, tmp_path, args):
    swept(assay, killed_at, lambda out: ("report", run, *args, out), tmp_path / "report")


def test_a_config(assay, killed_at, tmp_path):
    swept(assay, killed_at, lambda out: ("init", "run", "--out", out), tmp_path / "run.yaml")


def test_an_export_is_the_old_one_until_it_is_the_new_one(assay, endpoint, killed_at, tmp_path):
    store, out, run = tmp_path / "s.db", tmp_path / "public", tmp_path / "run"
    # So many queries that their document is larger than what the database itself writes.
    assay("run", "--endpoint", endpoint("--osl", 8).url, "--model", "m", "--samples", 600,
          "--concurrency", 8, "--quiet", "--report-dir", run, "--allow-client-limited")
    assay("import", run, "--store", store)
    assay("export", out, "--store", store, "--model", "none")
    (out / "CNAME").write_text("example.org")
    old = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    remains = 0
    for point in points():
        done = killed_at(("export", out, "--store", store), point)
        if {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} != old:
            break  # from one step to the next it is the new one
        assert done.returncode == -signal.SIGKILL, done.stderr
        remains += (tmp_path / ("public" + PART)).exists()
    assert remains > 0
    assert json.loads((out / "data/curves.json").read_text())["total"] == 1
    assay("export", out, "--store", store)
    assert (out / "CNAME").read_text() == "example.org", "what is not ours stays"
    assert json.loads((out / "data/curves.json").read_text())["total"] == 1
    assert not (tmp_path / ("public" + PART)).exists()


def test_the_remains_of_a_dead_program_are_no_run(assay, run, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    run.rename(folder / ("run" + PART))
    assert "holds no result" in assay("import", folder, "--store", tmp_path / "s.db", code=2).err
