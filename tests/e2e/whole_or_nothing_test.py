"""What others read stands under its name whole or not at all: whatever ends the program on the way,
and however full the disk is. A limit on the size of files (RLIMIT_FSIZE) ends it at a chosen byte:
its signal is a kill in the middle of a write; ignored, the write fails as on a full disk."""

import json
import os
import resource
import signal
import subprocess

import pytest
from conftest import TIMEOUT_S, program

PART = ".assay-part"


def limited(args, bytes_max, ignored):
    """Runs with files limited to so many bytes; the signal kills, or is ignored."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, resource.RLIM_INFINITY))
    return subprocess.run([program(), *map(str, args)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=prepare, restore_signals=False)


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


def swept(assay, command, out, beside):
    """Kills and fills the disk at every size that a file of the whole result has; then makes it."""
    first = out.with_name("first" + out.suffix)
    assay(*command(first))
    sizes = sizes_below(first)
    limits = sorted({0, 1, *(size - 1 for size in sizes if size > 0)})
    killed = 0
    before = {name for name in os.listdir(out.parent)}
    for bytes_max in limits:
        done = limited(command(out), bytes_max, ignored=True)
        assert done.returncode in (3, 8) and "File too large" in done.stderr, done.stderr
        assert set(os.listdir(out.parent)) == before, bytes_max
        done = limited(command(out), bytes_max, ignored=False)
        assert done.returncode == -signal.SIGXFSZ, done.stderr
        assert not out.exists(), bytes_max
        killed += (out.parent / (out.name + beside)).exists()
    assert killed > 0, "some kill came while the result was being written"
    assay(*command(out))
    assert set(os.listdir(out.parent)) == before | {out.name}, "no remains"
    assert sizes_below(out), "it holds something"
    return len(limits)


def test_a_tree_of_runs(assay, run, tmp_path):
    assert swept(assay, lambda out: ("pack", run, "--out", out, "--max-concurrency", 1),
                 tmp_path / "tree", PART) > 5


def test_a_bundle(assay, run, tmp_path):
    swept(assay, lambda out: ("bundle", run, "--output", out), tmp_path / "b.tar", PART)


def test_another_tools_results(assay, results, tmp_path):
    swept(assay, lambda out: ("convert", results, out), tmp_path / "converted", PART)


@pytest.mark.parametrize("args", [("--html",), ("--format", "csv", "--out"), ("--events-jsonl",)])
def test_a_report(assay, run, tmp_path, args):
    swept(assay, lambda out: ("report", run, *args, out), tmp_path / "report", PART)


def test_a_config(assay, tmp_path):
    swept(assay, lambda out: ("init", "run", "--out", out), tmp_path / "run.yaml", PART)


def test_an_export_is_the_old_one_until_it_is_the_new_one(assay, endpoint, tmp_path):
    store, out, run = tmp_path / "s.db", tmp_path / "public", tmp_path / "run"
    # So many queries that their document is larger than what the database itself writes.
    assay("run", "--endpoint", endpoint("--osl", 8).url, "--model", "m", "--samples", 600,
          "--concurrency", 8, "--quiet", "--report-dir", run, "--allow-client-limited")
    assay("import", run, "--store", store)
    assay("export", out, "--store", store, "--model", "none")
    (out / "CNAME").write_text("example.org")
    old = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    assay("export", tmp_path / "new", "--store", store)
    limits = sorted({size - 1 for size in sizes_below(tmp_path / "new") if size > 0})
    killed = 0
    for bytes_max in limits[-8:]:
        done = limited(("export", out, "--store", store), bytes_max, ignored=False)
        assert done.returncode == -signal.SIGXFSZ
        killed += (tmp_path / ("public" + PART)).exists()
        assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == old
    assert killed > 0
    assay("export", out, "--store", store)
    assert (out / "CNAME").read_text() == "example.org", "what is not ours stays"
    assert json.loads((out / "data/curves.json").read_text())["total"] == 1
    assert not (tmp_path / ("public" + PART)).exists()


def test_the_remains_of_a_dead_program_are_no_run(assay, run, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    run.rename(folder / ("run" + PART))
    assert "holds no result" in assay("import", folder, "--store", tmp_path / "s.db", code=2).err
