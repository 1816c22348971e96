"""The compliance tests on tests that ran in the process: each passes an honest system and fails one
that cheats. The system answers through our module; its run folder is what the tests read."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

MODULE = {**os.environ, "PYTHONPATH": str(
    pathlib.Path(os.environ.get("ASSAY_BIN", "build/release/assay")).with_name("python"))}
PROGRAM = """
import array, json, struct, sys, threading
import mlperf_loadgen as module

spec = json.load(sys.stdin)
settings = module.TestSettings()
settings.FromConfig(spec["config"], "m", "Offline")
settings.scenario = module.TestScenario.Offline
accuracy = settings.mode == module.TestMode.AccuracyOnly
seen = set()


def payload(row):
    if spec["answers"] == "ranking":
        n = 8
        labels = [(row >> bit) & 1 for bit in range(n)]
        right = spec["cheats"] == "no" or accuracy
        predictions = [(0.8 if label else 0.3) if right else 0.5 for label in labels]
        floats = [0, row, *predictions, *((*labels, *[1] * n, n) if accuracy else ())]
        return struct.pack(f"<{len(floats)}f", *floats)
    if spec["answers"] == "tokens":
        ids = [row + 3, 7, 8, *([2, 2] if spec["cheats"] == "ends twice" else [9, 2])]
        return struct.pack(f"<5{spec['width']}", *ids)
    shifted = spec["cheats"] == "bytes" and not accuracy
    return bytes([(row + shifted) % 256] * 8)


def issue(samples):
    # What is answered from a cache takes no time.
    paid = len({sample.index for sample in samples} if spec["cheats"] == "cache" else samples)
    threading.Event().wait(paid * spec["ms"] / 1000)
    kept = [array.array("B", payload(sample.index)) for sample in samples]
    module.QuerySamplesComplete([
        module.QuerySampleResponse(sample.id, bytes.buffer_info()[0], len(bytes), spec["tokens"])
        for sample, bytes in zip(samples, kept)])


sut = module.ConstructSUT(issue, lambda: None)
rows = module.ConstructQSL(40, 40, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = spec["logs"]
module.StartTestWithLogSettings(sut, rows, settings, logs, spec["audit"])
"""


@pytest.fixture(name="ran")
def fixture_ran(assay, tmp_path):
    """ran(lines, test, ...) -> the folder of a run, with the audit's file of `test`."""

    def go(lines="", test=None, cheats="no", answers="bytes", ms=0.2, tokens=5, width="i"):
        at = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        (at / "logs").mkdir(parents=True)
        (at / "user.conf").write_text(
            "*.Offline.min_duration = 0\n*.Offline.min_query_count = 200\n"
            "*.Offline.target_qps = 10\n" + lines)
        audit = "none"
        if test:
            audit = str(at / "audit.config")
            pathlib.Path(audit).write_text(
                assay("loadgen", "compliance", test, "--audit-config").out
                + "*.*.min_query_count = 200\n*.*.min_duration = 0\n")
        spec = {"config": str(at / "user.conf"), "logs": str(at / "logs"), "audit": audit,
                "cheats": cheats, "answers": answers, "ms": ms, "tokens": tokens,
                "width": width}
        done = subprocess.run([sys.executable, "-B", "-c", PROGRAM], input=json.dumps(spec),
                              text=True, capture_output=True, timeout=120, check=False,
                              env={**MODULE, "ASSAY_LOADGEN_RUN_FOLDER": str(at / "run")})
        assert done.returncode == 0, done.stderr
        return at / "run"

    return go


def verdict(assay, test, run, *flags):
    """Of each file, whether the test passes."""
    said = assay("loadgen", "compliance", test, run, *flags, "--json", code=None)
    assert said.code in (0, 1), said.err
    return {file["file"]: file["passed"] for file in said.json()["files"]}


def test_test01_compares_the_answers_of_both_modes(assay, ran):
    accuracy = ran("*.*.mode = 1\n")
    plain = ran()
    for cheats, passes in (("no", True), ("bytes", False)):
        audit = ran(test="TEST01", cheats=cheats)
        said = verdict(assay, "TEST01", audit, "--reference", plain, "--accuracy", accuracy)
        assert said["verify_accuracy.txt"] is passes


def test_test04_finds_a_cache(assay, ran):
    # The honest system is slower in the audit, so that no pause of the machine decides.
    for cheats, first, ms, passes in (("no", 0.2, 0.6, True), ("cache", 10, 10, False)):
        plain = ran(cheats=cheats, ms=first)
        audit = ran(test="TEST04", cheats=cheats, ms=ms)
        said = verdict(assay, "TEST04", audit, "--reference", plain)
        assert said == {"verify_performance.txt": passes}


def test_test06_reads_the_logs_token_ids(assay, ran, tmp_path):
    measured = "*.*.use_token_latencies = 1\n"
    for flags, passes in (({}, True), ({"width": "q"}, True), ({"cheats": "ends twice"}, False),
                          ({"tokens": 4}, False)):
        logs = ran(measured, test="TEST06", answers="tokens", **flags).parent / "logs"
        said = verdict(assay, "TEST06", logs, "--out", tmp_path / "TEST06")
        assert list(said.values()) == [passes], flags
    assert (tmp_path / "TEST06/verify_accuracy.txt").read_text() == (
        "First token check pass: Skipped\nEOS check pass: True\nSample length check pass: False\n"
        "TEST06 verification failed\n")
    # With another end token nothing ends twice.
    logs = ran(measured, test="TEST06", answers="tokens", cheats="ends twice").parent / "logs"
    assert list(verdict(assay, "TEST06", logs, "--eos-id", 3).values()) == [True]
    assert list(verdict(assay, "TEST09", logs, "--least", 5, "--most", 5).values()) == [True]


def test_test08_finds_other_predictions(assay, ran):
    accuracy = ran("*.*.mode = 1\n", answers="ranking")
    for cheats, passes in (("no", True), ("predictions", False)):
        audit = ran(test="TEST08", cheats=cheats, answers="ranking")
        said = verdict(assay, "TEST08", audit, "--accuracy", accuracy)
        assert list(said.values()) == [passes]


def test_test09_finds_short_answers(assay, ran):
    for tokens, passes in ((12, True), (5, False)):
        audit = ran("*.*.use_token_latencies = 1\n", test="TEST09", tokens=tokens)
        said = verdict(assay, "TEST09", audit, "--least", 10, "--most", 14)
        assert list(said.values()) == [passes]


def test_the_report_judges_a_test_in_the_process(assay, ran):
    told = assay("report", ran(), "--json", code=None).json()["loadgen"]
    assert told["valid"] and told["metric"]["name"] == "result_samples_per_second", told
