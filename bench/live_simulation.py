#!/usr/bin/env python3
"""How many streams of a modelled system `assay endpoint --scenario` holds on one core.

    bench/live_simulation.py [--build build/release] [--streams 1000,2500,5000] [--rate 20]
                             [--batch 25] [--seconds 15] [--ramp 2] [--before COMMAND] [--json]

Llama 3.1 70B on H200s, 25 streams a worker, sped up or down so that each stream has the rate, steps
3 % uneven as real ones are. All tokens of a worker's step are due at one instant, so that the last
of 25 is late by 24 sends at best. Streams start over two seconds: started at once, 200 alike
workers would step together, and 5,000 tokens due at one instant leave one core in no millisecond.
On CPU 1 the endpoint, on CPU 0 recv_only, which receives and does nothing else. Late is from the
instant that the model gives a token to when it was handed to the kernel. The least that an event
costs on this machine is what write_only takes for it, to as many connections at the same pace.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import tempfile
import time

import machine

OSL = 1000
EVENT_BYTES = 203  # of write_only, chunk and all
SYSTEM = ["--model", "llama3.1-70b", "--hardware", "h200-sxm", "--precision", "fp8", "--parallel",
          "tp=1", "--router", "least_loaded", "--isl", "16", "--osl", str(OSL)]


def tpot_ms(assay, streams):
    said = subprocess.run([assay, "simulate", *SYSTEM, "--concurrency", str(streams), "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["points"][0]["tpot_ms_mean"]


def floor_us(options, streams):
    """CPU of write_only for one event."""
    programs = [machine.compiled(name, options.build) for name in ("write_only", "recv_only")]
    with machine.server([programs[0], OSL, 1, streams * options.rate]) as (process, port):
        said = json.loads(machine.on_client_core(programs[1], port, streams, 3, OSL))
        events = said["bytes"] / EVENT_BYTES
        return 1e6 * machine.cpu_seconds(process.pid) / max(1, events)


def measure(options, streams, folder):
    assay, client = options.build / "assay", machine.compiled("recv_only", options.build)
    scenario = pathlib.Path(folder) / "system.yaml"
    scenario.write_text(
        "model: llama3.1-70b\nhardware: h200-sxm\nprecision: fp8\nparallel: tp=1\n"
        f"router: least_loaded\nprefix_cache: false\ngpus: {-(-streams // options.batch)}\n"
        "noise: {sigma: 0.03}\n"
        f"speedup: {tpot_ms(assay, options.batch) * options.rate / 1000:.4f}\n")
    process = subprocess.Popen(
        [*options.before.split(), "taskset", "-c", machine.SERVER_CORE, assay, "endpoint",
         "--scenario", scenario, "--osl", "max", "--port", "0", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = process.stdout.readline().strip().rsplit(":", 1)[-1]
    started = time.monotonic()
    machine.on_client_core(client, port, streams, options.seconds, OSL, "stream", options.ramp)
    wall, cpu, waited = (time.monotonic() - started, machine.cpu_seconds(process.pid),
                         machine.waited(process.pid))
    process.send_signal(signal.SIGTERM)
    summary = json.loads(process.stdout.read())
    process.wait()
    return {"streams": streams, "events_per_s": summary["events"] / wall,
            "cpu": cpu / wall, "waited": waited / wall,
            "us_per_event": 1e6 * cpu / max(1, summary["events"]),
            "floor_us_per_event": floor_us(options, streams), "late_us_p50": summary["late_us_p50"],
            "late_us_p99": summary["late_us_p99"], "kept_up": summary["kept_up"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=machine.ROOT / "build/release")
    parser.add_argument("--streams", default="1000,2500,5000")
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--batch", type=int, default=25, help="streams of one worker")
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--ramp", type=float, default=2, help="seconds over which streams start")
    parser.add_argument("--before", default="",
                        help='a command before the endpoint: "chrt -f 1" where others work too')
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    machine.prepare()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for streams in map(int, options.streams.split(",")):
            rows.append(measure(options, streams, folder))
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print("streams  events a second   CPU   waited for it   µs an event  write_only   late, P50"
          "      P99   kept up")
    for r in rows:
        print(f"{r['streams']:7,}  {r['events_per_s']:15,.0f}  {r['cpu']:4.0%}  {r['waited']:14.0%}"
              f"  {r['us_per_event']:12.1f}  {r['floor_us_per_event']:10.1f}"
              f"  {r['late_us_p50']:7.0f} µs  {r['late_us_p99']:5.0f} µs   {r['kept_up']}")


if __name__ == "__main__":
    main()
