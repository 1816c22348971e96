#!/usr/bin/env python3
"""Kills a curve on the real loop at random instants and compares what is left in the end.

    kill_curve.py --assay BIN [--kills 10] [--seed 1] [--levels 1,3] [--folder DIR]

Measures a small quick curve at the built-in endpoint once without a kill, then once for each kill:
started, killed with SIGKILL at an instant drawn from the seed, gone on with until it is done. Each
result must equal the whole one in everything but timing; differences() says what that is, and
tests/e2e/curve_test.py asks it after a kill of its own, and kills a smaller curve three times.
Exits 1 with the differences when there are any. Takes some ten seconds for each kill.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

# What an identical curve says differently each time: when, its own name, and where it lies (the
# settings name the folder).
OWN = {"started", "curve_id", "command", "config_sha256"}


def load(path):
    return json.loads(path.read_text())


def plan_of(folder):
    return {k: v for k, v in load(folder / "curve.json").items() if k not in OWN}


def settings_of(run):
    lines = (run / "config.yaml").read_text().splitlines()
    return [line for line in lines if not line.startswith("report_dir:")]


def order_of(run):
    """The rows in the order in which they were asked; the keys are of each run's own."""
    return list(load(run / "sample_idx_map.json")["performance"].values())


def point_differences(a, b, rows):
    out = []

    def compare(what, left, right):
        if left != right:
            out.append(f"{a.name}: {what}: {left} and {right}")

    compare("files", sorted(str(p.relative_to(a)) for p in a.rglob("*") if p.is_file()),
            sorted(str(p.relative_to(b)) for p in b.rglob("*") if p.is_file()))
    compare("config.yaml", settings_of(a), settings_of(b))
    left, right = order_of(a), order_of(b)
    shared = min(len(left), len(right))
    compare("order of samples", left[:shared], right[:shared])
    for name, run, order in (("first", a, left), ("second", b, right)):
        summary = load(run / "performance/result_summary.json")
        compare(f"{name}: complete", summary["complete"], True)
        compare(f"{name}: failed", summary["n_samples_failed"], 0)
        compare(f"{name}: completed", summary["n_samples_completed"], len(order))
        # How many passes fit into the time is timing; that they are whole is not.
        compare(f"{name}: samples beyond whole passes", len(order) % rows, 0)
    left, right = (load(run / "performance/result_summary.json")["run_config"] for run in (a, b))
    compare("run_config", left, right)
    return out


def differences(a, b):
    """What two folders of the same curve differ in beside timing: a list of sentences."""
    a, b = pathlib.Path(a), pathlib.Path(b)
    out = []
    left, right = plan_of(a), plan_of(b)
    if left != right:
        out.append(f"curve.json: {left} and {right}")
    summaries = [load(folder / "curve_summary.json") for folder in (a, b)]
    for summary in summaries:
        if not summary["complete"]:
            out.append("a curve is not complete")
    shapes = [[(p["name"], p["region"], p["declared_region"], p["offline"], p["measured"],
                p["total"]["failed"]) for p in s["points"]] for s in summaries]
    if shapes[0] != shapes[1]:
        out.append(f"points: {shapes[0]} and {shapes[1]}")
    rows = load(a / "curve.json")["plan"]["rows"]
    for point in load(a / "curve.json")["plan"]["points"]:
        out += point_differences(a / "points" / point["name"], b / "points" / point["name"], rows)
    return out


def start_endpoint(assay):
    process = subprocess.Popen([assay, "endpoint", "--port", "0", "--ttft", "10ms", "--itl", "1ms",
                                "--osl", "8"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    for line in process.stdout:
        found = re.search(r"https?://[\w.\[\]:]+:\d+", line)
        if found:
            return process, found.group()
    raise SystemExit("the endpoint ended before it listened")


def curve_command(assay, url, folder, levels):
    return [assay, "curve", "--endpoint", url, "--model", "m", "--concurrency", levels, "--quick",
            "--prompts", "12", "--isl", "20", "--report-dir", str(folder), "--quiet",
            "--allow-client-limited"]


def measure_whole(command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def measure_killed(command, folder, after):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(timeout=after)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    measure_whole(command)
    attempts = folder / "attempts"
    return sorted(p.name for p in attempts.iterdir()) if attempts.exists() else []


def run(assay, kills, seed, folder, levels="1,3"):
    rng = random.Random(seed)
    server, url = start_endpoint(assay)
    faults = 0
    try:
        whole = folder / "whole"
        took = measure_whole(curve_command(assay, url, whole, levels))
        print(f"whole: {took:.1f} s")
        for i in range(kills):
            killed = folder / f"killed{i}"
            after = rng.uniform(0, took)
            left = measure_killed(curve_command(assay, url, killed, levels), killed, after)
            found = differences(whole, killed)
            faults += len(found)
            print(f"killed after {after:6.2f} s, set aside {', '.join(left) or 'nothing'}: "
                  f"{'the same' if not found else 'NOT the same'}")
            for one in found:
                print(f"  {one}")
    finally:
        server.terminate()
        server.wait()
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", default="1,3")
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return run(options.assay, options.kills, options.seed, options.folder, options.levels)
    with tempfile.TemporaryDirectory() as folder:
        return run(options.assay, options.kills, options.seed, pathlib.Path(folder), options.levels)


if __name__ == "__main__":
    sys.exit(main())
