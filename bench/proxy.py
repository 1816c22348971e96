#!/usr/bin/env python3
"""What `assay proxy` adds to the time to the first token and to each gap.

    bench/proxy.py [--build build/release] [--seconds 5] [--rounds 3] [--rate 5000]
                   [--spin | --realtime]

One endpoint with a known timing; `assay run` measures it directly and through the proxy, in turns,
at the same rate of stream events a second. Queries come at random: the streams of a constant rate
would all send at one instant, and the figure would be that of a queue. Printed is the difference
of each percentile between the two of a round; what the proxy says itself, from an event's arrival
at this host, by the kernel's stamp, to the end of the write that passed it on; and how long the
proxy waited for a core: on a machine that is not quiet, or has fewer cores than programs here
(three), that wait is in the figures. A measurement for people.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from machine import ROOT, prepare, waited  # noqa: E402

TOKENS = 50


def started(command):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    return process, process.stdout.readline().strip()


def measure(program, url, rate, seconds):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "run", "--endpoint", url, "--model", "m", "--load-pattern", "poisson",
             "--rate", str(rate / TOKENS), "--duration", f"{seconds}s", "--isl", "64", "--osl",
             str(TOKENS), "--report-dir", f"{folder}/run", "--json", "--quiet", "--no-preflight",
             "--allow-client-limited"], capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)
    return {name: {p: summary[name]["percentiles"][p] / 1e3 for p in ("50.0", "99.0")}
            for name in ("ttft", "itl") if name in summary}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=5000, help="stream events a second")
    parser.add_argument("--spin", action="store_true", help="the proxy does not sleep in a request")
    parser.add_argument("--realtime", action="store_true", help="it goes before other programs")
    args = parser.parse_args()
    flags = ["--spin"] * args.spin + ["--realtime"] * args.realtime
    prepare()
    program = args.build / "assay"
    added = {}
    with tempfile.TemporaryDirectory() as folder:
        server, url = started([program, "endpoint", "--port", 0, "--ttft", "20ms", "--itl", "10ms",
                               "--quiet"])
        proxy, through = started([program, "proxy", url, "--record", f"{folder}/trace.jsonl",
                                  "--quiet", "--json", *flags])
        try:
            for _ in range(args.rounds):
                direct = measure(program, url, args.rate, args.seconds)
                before = waited(proxy.pid)
                passed = measure(program, through, args.rate, args.seconds)
                added.setdefault("waited_ms", []).append((waited(proxy.pid) - before) * 1e3)
                for name, values in direct.items():
                    for p, value in values.items():
                        added.setdefault(f"{name}_p{p}_us", []).append(passed[name][p] - value)
        finally:
            proxy.terminate()
            server.terminate()
            own = json.loads(proxy.stdout.read())["added_ns"]
            proxy.wait()
            server.wait()
        rows = sum(1 for _ in open(f"{folder}/trace.jsonl", encoding="utf-8"))
    for name, values in added.items():
        rounds = ", ".join(f"{value:.1f}" for value in values)
        print(f"{name:14} added {statistics.median(values):8.1f}  of {rounds}")
    print("the proxy itself, from the kernel's stamp to its write: "
          + ", ".join(f"{name} {own[name] / 1e3:.1f} us" for name in ("p50", "p99", "p99.9"))
          + f" of {own['count']} reads")
    print(f"rows in the trace: {rows}")


if __name__ == "__main__":
    main()
