#!/usr/bin/env python3
"""Is a client that was held up ever called innocent with wrong figures, and a quiet one guilty?

    bench/innocence.py [--build build/release] [--rounds 3] [--seconds 2] [--json]
                       [--only quiet,stops,quota,hogs] [--ahead]

Real runs against the built-in endpoint on the other core, which logs when it really sent each
token. A round is one run of each shape of load for each disturbance:

    quiet   none; a run during which the hypervisor took a tick or more of either core (steal), or
            in which a write of the endpoint took a millisecond or more by its own log, is in a row
            of its own, for it was disturbed
    stops   the client is stopped for 2 to 35 ms again and again (SIGSTOP, SIGCONT), 5 to 20 % of
            the time
    quota   its control group may use a part of a core (where control groups can be written)
    hogs    1 or 4 programs that use all they can of its core

For each, the table has the verdicts, how many of the percentiles' ranges hold the truth, and the
runs that were called innocent though a range does not. Exit 1 where there was one of those, or a
`yes` among the quiet. For a quiet machine: a neighbour is a disturbance that nobody asked for.
With --ahead the runs of the first two have --realtime, and their endpoint and the kernel's threads
that hand packets over come before all other programs too (SCHED_FIFO), so that what else the
machine does takes no core from them; root may do that. A witness of a still higher class looks at
the clock every half millisecond on the client's core; a quiet run in which it came a millisecond
late is in a row of its own: the hypervisor held the core, which its ticks of steal seldom tell.
The endpoint's log says which of its writes took long, so that its own hold-ups, which no client
can see, widen the truth and are not laid on the client.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import truth
from machine import CLIENT_CORE, ROOT, prepare, server

SHAPES = [("8 streams", "--concurrency", "8"), ("200 streams", "--concurrency", "200"),
          ("50 queries/s", "--rate", "50"), ("500 queries/s", "--rate", "500")]
STOPS = [(ms, share) for ms in (2, 4, 8, 16, 35) for share in (0.05, 0.10, 0.20)]
QUOTAS = [0.3, 0.6]
HOGS = [1, 4]
VERDICTS = ["no", "suspected", "yes"]
# What the truth is worth: between its instant and the segment's arrival the endpoint may be held
# up, too.
TOLERANCE_NS = 200_000
# A write of the endpoint that takes this long was held up: one takes some 10 µs.
HELD_NS = 1_000_000
GROUPS = pathlib.Path("/sys/fs/cgroup")


@contextlib.contextmanager
def stopped(process, ms, share):
    """Stops the process for `ms`, so that it stands still for `share` of the time."""
    over = threading.Event()

    def cycle():
        while not over.wait(ms * (1 / share - 1) / 1000):
            process.send_signal(signal.SIGSTOP)
            over.wait(ms / 1000)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=cycle)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def hogged(_process, count):
    spin = ["taskset", "-c", CLIENT_CORE, sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(spin) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def quota_group():
    """A new control group and what sets its quota, of 100 ms; None where none can be made."""
    for folder, name, text in [(GROUPS / "cpu", "cpu.cfs_quota_us", "{}"),
                               (GROUPS, "cpu.max", "{} 100000")]:
        group = folder / f"assay-bench-{os.getpid()}"
        with contextlib.suppress(OSError):
            group.mkdir()
            if (group / name).exists():
                return group, name, text
            group.rmdir()
    return None


@contextlib.contextmanager
def throttled(process, share):
    group, name, text = quota_group()
    try:
        (group / name).write_text(text.format(int(100_000 * share)))
        (group / "cgroup.procs").write_text(str(process.pid))
        yield
    finally:
        process.wait()
        group.rmdir()


@contextlib.contextmanager
def left_alone(_process):
    yield


def packet_threads():
    """The process ids of the kernel's threads that deliver packets when a core has many."""
    names = pathlib.Path("/proc").glob("[0-9]*/comm")
    return [int(name.parent.name) for name in names if name.read_text().startswith("ksoftirqd/")]


@contextlib.contextmanager
def ahead_of_others(processes):
    """Meanwhile these have the cores before all programs that are not real-time ones."""
    for process in processes:
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        for process in processes:
            os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))


WITNESS = """
import select, sys, time
late, before = 0, time.monotonic()
while not select.select([sys.stdin], [], [], 0.0005)[0]:
    now = time.monotonic()
    late += now - before > 0.0015
    before = now
print(late)
"""


@contextlib.contextmanager
def witness(wanted):
    """A list that has the number of times the client's core was held for more than a millisecond,
    whoever held it, once the context is over; 0 where none is wanted."""
    holds = []
    if not wanted:
        yield holds
        holds.append(0)
        return
    process = subprocess.Popen(["chrt", "-f", "2", "taskset", "-c", CLIENT_CORE, sys.executable,
                                "-c", WITNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    yield holds
    out, _ = process.communicate()
    holds.append(int(out))


def disturbances(names):
    """[(name, what it is, context manager, its arguments)] of what can be done here."""
    out = []
    if "quiet" in names:
        out.append(("quiet", "", left_alone, ()))
    if "stops" in names:
        out += [("stops", f"{ms} ms, {share:.0%}", stopped, (ms, share)) for ms, share in STOPS]
    if "quota" in names:
        group = quota_group()
        if group is None:
            print("quota: left out, no control group can be made here", file=sys.stderr)
        else:
            group[0].rmdir()
            out += [("quota", f"{share:.0%} of a core", throttled, (share,)) for share in QUOTAS]
    if "hogs" in names:
        out += [("hogs", f"{count}", hogged, (count,)) for count in HOGS]
    return out


def stolen_ticks():
    """Of both cores together, by the kernel's counter."""
    return int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])


def one_run(assay, seconds, load, disturb, arguments, work, ahead):
    """The verdict, its reasons, the rows of truth.compare() and the endpoint's longest write in ns
    of one short run."""
    shutil.rmtree(work / "run", ignore_errors=True)
    log = work / "truth.log"
    endpoint = [assay, "endpoint", "--port", "0", "--quiet", "--ttft", "5ms", "--itl", "2ms",
                "--osl", "max", "--truth-log", log, "--truth-holds"]
    first, realtime = (["chrt", "-f", "1"], ["--realtime"]) if ahead else ([], [])
    with server([*first, *endpoint]) as (_, port), \
            ahead_of_others(packet_threads() if ahead else []):
        process = subprocess.Popen(
            ["taskset", "-c", CLIENT_CORE, assay, "run", "--endpoint", f"http://127.0.0.1:{port}",
             "--model", "m", "--isl", "20", "--osl", "16", "--duration", f"{seconds}s",
             "--report-dir", work / "run", "--quiet", "--json", "--events-jsonl",
             "--allow-client-limited", *realtime, *load], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        with disturb(process, *arguments):
            out, err = process.communicate()
    if process.returncode:
        sys.exit(f"a run ended with {process.returncode}\n{err}")
    client = json.loads(out)["client"]
    summary = json.loads((work / "run/performance/result_summary.json").read_text())
    sent = truth.sent_instants(work / "run/events.jsonl")
    replies = truth.read_log(log)
    rows = truth.compare(summary, truth.series(replies, sent))
    return (client["client_limited"], [reason["what"] for reason in client["reasons"]], rows,
            truth.longest_write(replies))


def row_text(row):
    metric, p, figure, (low, high), (least, most) = row
    ms = [f"{ns / 1e6:.3f}" for ns in (figure, low, high, least, most)]
    return f"{metric} P{p} {ms[0]} in [{ms[1]}, {ms[2]}], in truth [{ms[3]}, {ms[4]}] ms"


def measure(options, work):
    table = collections.defaultdict(collections.Counter)
    notes = []
    assay = options.build / "assay"
    for turn in range(options.rounds):
        for i, (name, detail, disturb, arguments) in enumerate(disturbances(options.only)):
            shapes = SHAPES if name == "quiet" else [SHAPES[(turn + i) % len(SHAPES)]]
            for shape, *load in shapes:
                before = stolen_ticks()
                ahead = options.ahead and name in ("quiet", "stops")
                with witness(ahead and name == "quiet") as holds:
                    verdict, why, rows, longest = one_run(
                        assay, options.seconds, load, disturb, arguments, work, ahead)
                off = [row for row in rows if not truth.held(row, TOLERANCE_NS)]
                row = name
                if name == "quiet" and stolen_ticks() > before:
                    row = "quiet, steal"
                elif holds[0] > 0:
                    row = "quiet, core held"
                elif name == "quiet" and longest >= HELD_NS:
                    row = "quiet, endpoint held"
                counts = table[row]
                counts["runs"] += 1
                counts[verdict] += 1
                counts["percentiles"] += len(rows)
                counts["held"] += len(rows) - len(off)
                counts["wrong"] += verdict == "no" and bool(off)
                if off or (name == "quiet" and verdict != "no"):
                    notes.append({"run": f"{row} {detail} {shape}".replace("  ", " "),
                                  "verdict": verdict, "why": why, "longest_write_ns": longest,
                                  "off": [row_text(row) for row in off]})
    return table, notes


def print_table(table, notes):
    heads = ["runs", *VERDICTS, "truth in range", "innocent and off"]
    print("| Disturbance | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    for name, counts in table.items():
        cells = [str(counts[key]) for key in ("runs", *VERDICTS)]
        cells += [f"{counts['held'] / counts['percentiles']:.2%} of {counts['percentiles']}",
                  str(counts["wrong"])]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for note in notes:
        print(f"\n{note['run']}: {note['verdict']}: " + "; ".join(note["why"]))
        for line in note["off"]:
            print("    " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", type=lambda text: text.split(","),
                        default=["quiet", "stops", "quota", "hogs"])
    parser.add_argument("--ahead", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory() as work:
        table, notes = measure(options, pathlib.Path(work))
    if options.json:
        print(json.dumps({"table": table, "notes": notes}, indent=2))
    else:
        print_table(table, notes)
    wrong = sum(counts["wrong"] for counts in table.values())
    sys.exit(1 if wrong or table["quiet"]["yes"] else 0)


if __name__ == "__main__":
    main()
