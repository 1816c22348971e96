"""Runs the built program against each mode and says what came of it."""

import concurrent.futures
import dataclasses
import json
import os
import subprocess

from . import http1, http2, tls
from .wire import Listener, Mode

QUERY_TIMEOUT_S = 30
# Where a failure is known, nobody waits for the time limit: a run of a few queries, each of which
# may have a second of grace, on a machine that others load too.
RUN_MAX_S = 15
WORKERS = 4


@dataclasses.dataclass
class Outcome:
    """What one run left."""

    code: int
    said: str
    summary: dict
    audit: dict

    @property
    def failures(self):
        return {one["outcome"] for one in self.summary["assay"]["failures"]}

    @property
    def details(self):
        return [
            example["detail"]
            for one in self.summary["assay"]["failures"]
            for example in one["examples"]
        ]


def run(mode, folder, wait_s=120):
    listener = Listener(mode.serve, mode.wrap)
    home = folder / mode.name
    flags = list(mode.flags)
    if "--query-timeout" not in flags:
        flags += ["--query-timeout", f"{QUERY_TIMEOUT_S}s"]
    try:
        done = subprocess.run(
            [
                os.environ["ASSAY_BIN"],
                "run",
                "--endpoint",
                f"{mode.scheme}://127.0.0.1:{listener.port}",
                "--model",
                "m",
                "--samples",
                str(mode.samples),
                "--concurrency",
                str(mode.concurrency),
                "--allow-client-limited",
                "--no-preflight",
                "--report-dir",
                str(home),
                *flags,
            ],
            capture_output=True,
            text=True,
            timeout=wait_s,
            check=False,
        )
    except subprocess.TimeoutExpired as waited:
        return Outcome(-1, f"it did not end: {waited}", {}, {})
    finally:
        listener.close()

    def read(name):
        path = home / name
        return json.loads(path.read_text()) if path.exists() else {}

    return Outcome(
        done.returncode,
        done.stdout + done.stderr,
        read("performance/result_summary.json"),
        read("assay/client.json"),
    )


def run_all(modes, folder):
    """By name. Several at once: most of a run is waiting."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return dict(
            zip([mode.name for mode in modes], pool.map(lambda mode: run(mode, folder), modes))
        )


def all_modes(folder):
    modes = [*http1.MODES, *http2.MODES, *tls.modes(folder)]
    assert len({mode.name for mode in modes}) == len(modes)
    return modes


def judge(mode: Mode, got: Outcome):
    """Raises AssertionError where the client made something else of it than it should."""
    expected = (mode.expect,) if isinstance(mode.expect, str) else mode.expect
    context = f"{mode.name}: exit {got.code}, expected {expected}\n{got.said}"
    assert got.code >= 0, context  # no signal: it did not crash
    if "unreachable" in expected and not got.summary:
        assert got.code == 3, context
        assert mode.detail in got.said, context
        return
    assert got.summary, context
    s = got.summary
    assert s["n_samples_issued"] == mode.samples, context
    assert s["n_samples_issued"] == s["n_samples_completed"] + s["n_samples_failed"], context
    assert s["duration_ns"] < RUN_MAX_S * 1e9 or mode.heavy, context
    assert got.audit["memory_bytes_peak"] <= got.audit["memory_bytes_max"], context
    assert s["ttft"].get("min", 0) >= 0, context
    if "any" in expected:
        return
    if expected == ("ok",):
        assert s["n_samples_completed"] == mode.samples, context
        # Three tokens of three fragments, whoever counts them.
        assert s["output_sequence_lengths"]["total"] == mode.tokens * mode.samples, context
        assert (s["ttft"].get("max", 0) > 0) == mode.ttft, context
        return
    assert s["n_samples_failed"] == mode.samples, context
    assert got.failures <= set(expected), context
    assert all(mode.detail in detail for detail in got.details), context
