#!/usr/bin/env python3
"""Stream events a second that `assay endpoint` reaches on one core, beside what the kernel allows.

    bench/endpoint.py [--build build/release] [--seconds 3] [--rounds 3] [--json]

Two servers take turns on CPU 1: `assay endpoint` with no delays, and write_only, which writes the
same bytes and does nothing else. On CPU 0 runs recv_only, which receives and does nothing else. The
two are interleaved, so that a neighbour's load hits both. Rates are given by the clock and by the
server's CPU second; on a machine that is not quiet only the latter means anything. A round in which
a server waited for its core more than 5 % of the time is marked "busy".
"""

import argparse
import json
import pathlib
import statistics

from machine import ROOT, compiled, cpu_seconds, on_client_core, prepare, server, waited

OSL = 64
CASES = [  # connections, events in one write
    (64, 1),
    (1024, 1),
    (64, 16),
    (1024, 16),
    (9000, 1),
]
BUSY = 0.05


def measure(command, reader, connections, seconds):
    with server(command) as (process, port):
        before = waited(process.pid)
        said = on_client_core(reader, port, connections, seconds, OSL, "stream")
        delay = waited(process.pid) - before
        cpu = cpu_seconds(process.pid)
    row = json.loads(said)
    return {"rate": row["events"] / row["seconds"], "per_cpu": row["events"] / max(cpu, 0.01),
            "busy": delay > BUSY * row["seconds"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    reader = compiled("recv_only", options.build)
    writer = compiled("write_only", options.build)
    assay = options.build / "assay"
    rows = []
    for connections, per_write in CASES:
        ours = [assay, "endpoint", "--port", "0", "--quiet", "--osl", OSL,
                "--events-per-write", per_write]
        least = [writer, OSL, per_write]
        rounds = [(measure(ours, reader, connections, options.seconds),
                   measure(least, reader, connections, options.seconds))
                  for _ in range(options.rounds)]
        row = {"connections": connections, "events_per_write": per_write}
        for index, name in enumerate(("endpoint", "write_only")):
            for figure in ("rate", "per_cpu"):
                row[f"{name}_{figure}"] = statistics.median(r[index][figure] for r in rounds)
        row["busy_rounds"] = sum(a["busy"] or b["busy"] for a, b in rounds)
        rows.append(row)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print("                           endpoint, events          write_only, events")
    print("connections  events/write  a second   a CPU second   a second   a CPU second   ratio")
    for row in rows:
        note = f"   busy in {row['busy_rounds']}" if row["busy_rounds"] else ""
        print(f"{row['connections']:11,}  {row['events_per_write']:12,}"
              f"  {row['endpoint_rate']:8,.0f}  {row['endpoint_per_cpu']:13,.0f}"
              f"  {row['write_only_rate']:9,.0f}  {row['write_only_per_cpu']:13,.0f}"
              f"  {row['endpoint_per_cpu'] / row['write_only_per_cpu']:6.2f}{note}")


if __name__ == "__main__":
    main()
