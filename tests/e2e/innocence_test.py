"""Guilty clients are found out, and a slow endpoint is not blamed on the client.

Faults are made, not waited for: a hog on the measuring core, a client that is stopped, once or
again and again, a client that is stopped while an endpoint fills its receive buffers. A machine
that is busy with other things makes a client guilty in truth, so what is asked of an innocent run
is that nothing is laid at the client's door that the endpoint did; src/instrument/metrics judges
the rest, in simulated time.
"""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import threading

import pytest

from conftest import TIMEOUT_S, program

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench"))
import truth  # noqa: E402

GUILTY = 4
# Between the endpoint's instant and the segment's arrival the endpoint may be held up, too.
TRUTH_WORTH_NS = 1_000_000
# Reasons that lie in the client's machine.
MACHINE = ("released late|stood still|waited for a CPU|of its core|lay unread|held up|was stopped|"
           "hypervisor|CPU quota")


class Run:
    """A run in the background; begun when its event log has begun to grow."""

    def __init__(self, url, folder, *more):
        self.folder = folder
        self.process = subprocess.Popen(
            [program(), "run", "--endpoint", url, "--model", "m", "--report-dir", str(folder),
             "--quiet", "--json", *map(str, more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)

    def wait_for_events(self, count=1):
        log = self.folder / "assay/events-0.alog"
        while not (log.exists() and log.stat().st_size > 4096 * count):
            assert self.process.poll() is None, self.process.stderr.read()

    def stand_still(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        select.select([], [], [], seconds)  # the fault itself, not a wait for anything
        self.process.send_signal(signal.SIGCONT)

    def result(self):
        """Exit code, the verdict and the reasons as one text, and the client's own figures."""
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        assert out, err
        client = json.loads(out)["client"]
        audit = json.loads((self.folder / "assay/client.json").read_text())
        return (self.process.returncode, client["client_limited"],
                "; ".join(reason["what"] for reason in client["reasons"]), audit)


@contextlib.contextmanager
def stopped_again_and_again(run, still, between):
    """Meanwhile the run is stopped for `still` seconds in each `still + between`."""
    over = threading.Event()

    def cycle():
        while not over.is_set():
            run.stand_still(still)
            over.wait(between)

    thread = threading.Thread(target=cycle)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def hogs(core, count):
    """Programs that use all they can of one core."""
    spin = (f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(1, flush=True)\n"
            "while True: pass")
    processes = [subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE)
                 for _ in range(count)]
    try:
        for process in processes:
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_hog_on_the_measuring_core_is_found_out(endpoint, tmp_path):
    server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "max")
    core = min(os.sched_getaffinity(0))  # where --pin puts the first measuring thread
    with hogs(core, 6):
        run = Run(server.url, tmp_path / "run", "--pin", "--rate", 500, "--load-pattern",
                  "constant", "--duration", "2s", "--osl", 8)
        code, verdict, reasons, audit = run.result()
    assert verdict in ("suspected", "yes"), audit
    assert code == (GUILTY if verdict == "yes" else 0)
    assert "waited for a CPU" in reasons or "released late" in reasons, reasons


def may_be_real_time():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        return False
    return True


def test_hogs_do_not_hold_up_a_client_in_the_real_time_class(endpoint, assay, tmp_path):
    server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "max")
    load = ["--rate", 500, "--load-pattern", "constant", "--duration", "2s", "--osl", 8]
    ask = ["run", "--endpoint", server.url, "--model", "m", "--report-dir", tmp_path / "no"]
    spinning = assay(*ask, "--realtime", "--spin", *load, code=2)
    assert "--realtime: not with --spin" in spinning.err
    if not may_be_real_time():
        refused = assay(*ask, "--realtime", *load, code=2)
        assert "CAP_SYS_NICE" in refused.err and not (tmp_path / "no").exists()
        return
    core = min(os.sched_getaffinity(0))
    with hogs(core, 6):
        run = Run(server.url, tmp_path / "run", "--pin", "--realtime", *load)
        _, _, reasons, audit = run.result()
    granted = {setting["name"]: setting["granted"] for setting in audit["settings"]}
    assert granted["realtime"] and "waited for a CPU" not in reasons, audit


def test_a_client_that_was_stopped_for_200_ms_is_guilty(endpoint, tmp_path):
    server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "max")
    run = Run(server.url, tmp_path / "run", "--rate", 200, "--duration", "2s", "--osl", 8)
    run.wait_for_events()
    run.stand_still(0.2)
    code, verdict, reasons, _ = run.result()
    assert (code, verdict) == (GUILTY, "yes")
    assert "stood still" in reasons


@pytest.mark.parametrize("stop_ms", [4, 8, 20])
def test_a_client_that_is_stopped_again_and_again_is_guilty_or_its_ranges_hold(
        endpoint, tmp_path, stop_ms):
    log = tmp_path / "truth.log"
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", "max", "--truth-log", log,
                      "--truth-holds")
    run = Run(server.url, tmp_path / "run", "--concurrency", 4, "--samples", 8, "--osl", 300,
              "--events-jsonl")
    run.wait_for_events()
    with stopped_again_and_again(run, stop_ms / 1000, 4 * stop_ms / 1000):
        _, verdict, reasons, audit = run.result()
    server.stop()
    summary = json.loads((tmp_path / "run/performance/result_summary.json").read_text())
    sent = truth.sent_instants(tmp_path / "run/events.jsonl")
    rows = truth.compare(summary, truth.series(truth.read_log(log), sent))
    off = [row for row in rows if not truth.held(row, TRUTH_WORTH_NS)]
    assert verdict != "no" or not off, (off, audit)
    # A fifth of the time with eight streams of a token each 2 ms: some tokens shared a read.
    assert verdict in ("suspected", "yes"), (reasons, audit)
    assert "saw several tokens at once" in reasons


def test_receive_buffers_that_fill_are_found_out(endpoint, tmp_path):
    server = endpoint("--osl", "max")  # all at once: far more than a buffer holds
    run = Run(server.url, tmp_path / "run", "--concurrency", 4, "--duration", "1500ms", "--osl",
              20000)
    run.wait_for_events(10)
    run.stand_still(0.4)
    code, verdict, reasons, _ = run.result()
    assert (code, verdict) == (GUILTY, "yes")
    assert "lay unread" in reasons, reasons


def test_an_endpoint_slower_than_the_schedule_is_not_the_client_s_fault(endpoint, tmp_path):
    server = endpoint("--ttft", "50ms", "--concurrency", 2, "--osl", "max")
    run = Run(server.url, tmp_path / "run", "--rate", 150, "--duration", "1500ms", "--osl", 2)
    code, verdict, reasons, _ = run.result()
    # What an endpoint could cause is in no reason; what else this machine did meanwhile may be.
    assert all(re.search(MACHINE, reason) for reason in reasons.split("; ") if reason), reasons
    assert code == (GUILTY if verdict == "yes" else 0)
    # And the schedule was kept: what was due was sent, although nothing came back in time.
    summary = json.loads((tmp_path / "run/performance/result_summary.json").read_text())
    rates = summary["assay"]["rates"]
    assert rates["achieved_qps"] == pytest.approx(rates["offered_qps"], rel=0.3)
    assert summary["n_samples_issued"] > 0.7 * 150 * 1.5
    assert summary["n_samples_completed"] == summary["n_samples_issued"]
