#!/usr/bin/env python3
"""Does an innocent client stay innocent? Many short real runs, and how many ended in each verdict.

    bench/innocence.py [--build build/release] [--runs 100] [--seconds 1] [--json]

Each run goes against the built-in endpoint on the other core, far below what the client can do, so
that `yes` is never right: exit 1 when there was one. Four shapes take turns: a closed loop of 8 and
of 200 streams, and a Poisson schedule of 50 and of 500 queries/s. For a quiet machine: a neighbour
on the client's core is a reason for `suspected`, and a heavy one for `yes`.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from machine import CLIENT_CORE, ROOT, prepare, server

SHAPES = [("8 streams", "--concurrency", "8"), ("200 streams", "--concurrency", "200"),
          ("50 queries/s", "--rate", "50"), ("500 queries/s", "--rate", "500")]
VERDICTS = ["no", "suspected", "yes"]


def one_run(assay, port, seconds, load, folder):
    """(verdict, its reasons) of one short run."""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(["taskset", "-c", CLIENT_CORE, assay, "run", "--endpoint",
                           f"http://127.0.0.1:{port}", "--model", "m", "--isl", "20", "--osl", "16",
                           "--duration", f"{seconds}s", "--report-dir", folder, "--quiet", "--json",
                           "--allow-client-limited", *load], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"a run ended with {done.returncode}\n{done.stderr}")
    client = json.loads(done.stdout)["client"]
    return client["client_limited"], [reason["what"] for reason in client["reasons"]]


def measure(options, work):
    counts = {name: collections.Counter() for name, *_ in SHAPES}
    reasons = []
    assay = options.build / "assay"
    command = [assay, "endpoint", "--port", "0", "--quiet", "--ttft", "5ms", "--itl", "2ms",
               "--osl", "max"]
    with server(command) as (_, port):
        for i in range(options.runs):
            name, *load = SHAPES[i % len(SHAPES)]
            verdict, why = one_run(assay, port, options.seconds, load, work / "run")
            counts[name][verdict] += 1
            if verdict != "no":
                reasons.append({"run": i + 1, "shape": name, "verdict": verdict, "why": why})
    return counts, reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory() as work:
        counts, reasons = measure(options, pathlib.Path(work))
    guilty = sum(count["yes"] for count in counts.values())
    if options.json:
        print(json.dumps({"verdicts": counts, "reasons": reasons}, indent=2))
    else:
        print(f"{'':<16}" + "".join(f"{verdict:>11}" for verdict in VERDICTS))
        for name, count in counts.items():
            print(f"{name:<16}" + "".join(f"{count[verdict]:>11}" for verdict in VERDICTS))
        for reason in reasons:
            print(f"run {reason['run']}, {reason['shape']}: {reason['verdict']}: "
                  + "; ".join(reason["why"]))
    sys.exit(1 if guilty else 0)


if __name__ == "__main__":
    main()
