#!/usr/bin/env python3
"""What `assay noise` and `assay compare --noise` promise, on real runs beside a neighbour.

    bench/noise_gate.py [--build build/release] [--pairs 200] [--learn 8] [--seed 1]

A neighbour takes cores at random instants all the while, so equal runs differ. First the noise is
learnt from equal runs, which says how many runs a side a change of 5 % needs, for each metric.
Metrics that ask for more than --most are left out. Then two endpoints of equal speed, and one that
is 5 % slower in every time, are compared `pairs` times with as many runs as asked for, in turns:

  false alarms   pairs of equal endpoints that are called worse: at most 5 % of them
  found          pairs in which the slower endpoint is called worse: at least 90 %
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

from machine import ROOT

METRICS = "ttft_p50,ttft_p75,ttft_p90,tpot_p50,tpot_p90,itl_p90,latency_p50,latency_p90"
SLOWER = 1.05


class Neighbour:
    """Takes one core, for a while, again and again, until it is closed."""

    def __init__(self, seed):
        self.draw, self.over = random.Random(seed), threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.over.wait(self.draw.expovariate(1 / 0.7)):
            spin = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.over.wait(self.draw.expovariate(1 / 0.4))
            spin.kill()
            spin.wait()

    def close(self):
        self.over.set()
        self.thread.join()


class Gate:
    def __init__(self, assay, work, options):
        self.assay, self.work, self.made, self.options = assay, work, 0, options
        self.metrics = options.metrics
        self.servers = {"equal": self.serve(1), "slower": self.serve(SLOWER)}

    def serve(self, factor):
        ttft, itl = (f"{ms * factor:.6g}ms" for ms in (self.options.ttft, self.options.itl))
        process = subprocess.Popen(
            [self.assay, "endpoint", "--ttft", ttft, "--itl", itl, "--osl", "max", "--port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return process, "http://127.0.0.1:" + process.stdout.readline().strip().rsplit(":", 1)[-1]

    def run(self, speed, folder):
        self.made += 1
        done = subprocess.run(
            [self.assay, "run", "--endpoint", self.servers[speed][1], "--model", "m", "--isl",
             "20", "--osl", "20", "--concurrency", str(self.options.streams), "--samples",
             str(self.options.samples), "--quiet",
             "--report-dir", folder, "--allow-client-limited"], capture_output=True, text=True,
            check=False)
        assert done.returncode == 0, done.stderr

    def compare(self, a, b, noise):
        done = subprocess.run(
            [self.assay, "compare", a, b, "--noise", noise, "--metrics", self.metrics, "--json",
             "--allow-client-limited"], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 5), done.stdout + done.stderr
        return json.loads(done.stdout)

    def close(self):
        for process, _ in self.servers.values():
            process.kill()
            process.wait()


def series(gate, options):
    noise = gate.work / "noise"
    for i in range(options.learn):
        gate.run("equal", noise / f"{i:02}")
    answer = json.loads(subprocess.run(
        [gate.assay, "noise", noise, "--change", "5%", "--metrics", options.metrics, "--json",
         "--allow-client-limited"], capture_output=True, text=True, check=True).stdout)
    asked = {m["metric"]: m["needed"][0]["runs_a_side"] for m in answer["metrics"]}
    for one in answer["metrics"]:
        print(f"  {one['metric']:12} ±{100 * one['deviation']:.2f} % from run to run, "
              f"{asked[one['metric']]} runs a side for 5 %")
    asked = {name: runs for name, runs in asked.items() if runs and runs <= options.most}
    if not asked:
        sys.exit(f"every metric asks for more than --most {options.most} runs a side")
    n = max(asked.values())
    print(f"  judged by {', '.join(asked)}; others ask for more than {options.most}", flush=True)
    gate.metrics = ",".join(asked)
    alarms, found, each = 0, 0, dict.fromkeys(asked, 0)
    for pair in range(options.pairs):
        folders = [gate.work / f"{side}{pair}" for side in "abc"]
        for i in range(n):
            turns = list(zip(folders, ("equal", "equal", "slower")))
            random.Random(options.seed * 1000 + pair * 50 + i).shuffle(turns)
            for folder, speed in turns:
                gate.run(speed, folder / f"{i:02}")
        alarms += gate.compare(folders[0], folders[1], noise)["verdict"] == "worse"
        slower = gate.compare(folders[0], folders[2], noise)
        found += slower["verdict"] == "worse"
        for metric in slower["metrics"]:
            each[metric["metric"]] += metric["verdict"] == "worse"
        subprocess.run(["rm", "-rf", *folders], check=True)
        if (pair + 1) % 20 == 0:
            print(f"  {pair + 1} pairs of {n} + {n} runs: {alarms} false alarms, {found} found",
                  flush=True)
    print(f"{options.pairs} pairs of {n} + {n} runs, {gate.made} runs in all")
    print(f"false alarms {alarms} ({100 * alarms / options.pairs:.1f} %)")
    print(f"found        {found} ({100 * found / options.pairs:.1f} %)")
    for metric, count in each.items():
        print(f"  by {metric:12} {count} ({100 * count / options.pairs:.1f} %)")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--learn", type=int, default=8)
    parser.add_argument("--most", type=int, default=6, help="runs a side, at most")
    parser.add_argument("--alone", action="store_true",
                        help="no neighbour of its own: the machine is busy enough")
    parser.add_argument("--ttft", type=float, default=10, help="of the endpoint, ms")
    parser.add_argument("--itl", type=float, default=1, help="ms")
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--samples", type=int, default=200, help="queries of a run")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        neighbour = None if options.alone else Neighbour(options.seed)
        gate = Gate(options.build.resolve() / "assay", pathlib.Path(work), options)
        try:
            series(gate, options)
        finally:
            gate.close()
            if neighbour:
                neighbour.close()


if __name__ == "__main__":
    main()
