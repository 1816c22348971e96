#!/usr/bin/env python3
"""The same system live and simulated: `assay run` against `assay endpoint --scenario`, beside
`assay simulate --scenario`, at several concurrencies.

    live_against_simulated.py SCENARIO.yaml --assay build/release/assay --concurrency 1,8,64
        [--isl LENGTH] [--osl LENGTH] [--queries 20] [--seed 42] [--limit 3] [--speedup 1]

Exit code 1 when TPOT or throughput differ by more than the limit, in percent, at a point that the
machine held: tokens left the endpoint in time and the client was not the bottleneck. Both sides
measure the whole run, start and end included, of the same queries: one seed gives both the same
lengths in the same order, and prompts go as token ids, so that the endpoint counts what was asked.
With lengths of its own each side would differ by several percent where replies are short.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile


class Live:
    """The endpoint, while the block runs; then `summary` is what it says of itself."""

    def __init__(self, args):
        self.command = [args.assay, "endpoint", "--scenario", args.scenario, "--osl", "max",
                        "--port", "0", "--json", "--speedup", str(args.speedup)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        url = re.search(r"http://[^\s/]+", self.process.stdout.readline())
        if not url:
            sys.exit(self.process.communicate()[1].strip() or "error: the endpoint did not start")
        self.url = url[0]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.summary = json.loads(self.process.stdout.read())
        self.process.wait()


def measured(args, url, concurrency, folder):
    command = [args.assay, "run", "--endpoint", url, "--model", "m", "--concurrency",
               str(concurrency), "--samples", str(concurrency * args.queries), "--isl", args.isl,
               "--osl", args.osl, "--ignore-eos", "--api-type", "openai_completions",
               "--run-seed", str(args.seed), "--report-dir", folder, "--quiet", "--json",
               "--allow-client-limited"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise SystemExit(said.stderr or said.stdout)
    return json.loads(said.stdout)


def simulated(args, concurrency):
    command = [args.assay, "simulate", "--scenario", args.scenario, "--concurrency",
               str(concurrency), "--isl", args.isl, "--osl", args.osl, "--queries",
               str(args.queries), "--seed", str(args.seed), "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["points"][0]


def compare(args, concurrency):
    """What differs, in percent, and whether the machine held the point at all."""
    with Live(args) as live, tempfile.TemporaryDirectory() as folder:
        run = measured(args, live.url, concurrency, str(pathlib.Path(folder) / "run"))
    point = simulated(args, concurrency)
    ms = 1e-6 * args.speedup
    mean = {key: run[key]["avg"] * ms for key in ("tpot", "ttft", "latency")}
    tokens = run["output_sequence_lengths"]["avg"]
    live_tps = concurrency * tokens / mean["latency"] * 1e3
    return {"concurrency": concurrency, "tpot_live": mean["tpot"], "tpot": point["tpot_ms_mean"],
            "tps_live": live_tps, "tps": point["system_tps"],
            "tpot_off": 100 * (mean["tpot"] / point["tpot_ms_mean"] - 1),
            "tps_off": 100 * (live_tps / point["system_tps"] - 1),
            "ttft_off": 100 * (mean["ttft"] / point["ttft_ms_mean"] - 1),
            "late_us": live.summary["late_us_p99"], "server_held": live.summary["kept_up"],
            "client_held": not any("client" in text for text in run["assay"]["warnings"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario")
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--concurrency", default="1,8,64")
    parser.add_argument("--isl", default="uniform:410-512")
    parser.add_argument("--osl", default="uniform:102-128")
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--seed", type=int, default=42, help="of the lengths, on both sides")
    parser.add_argument("--limit", type=float, default=3)
    parser.add_argument("--speedup", type=float, default=1, help="of the live side; below 1, a "
                        "busy machine disturbs less")
    args = parser.parse_args()
    print("| concurrency | TPOT live, ms | simulated | off, % | tokens/s live | simulated |"
          " off, % | TTFT off, % | tokens late, P99 | |\n|---|---|---|---|---|---|---|---|---|---|")
    good = True
    for concurrency in map(int, args.concurrency.split(",")):
        c = compare(args, concurrency)
        fits = abs(c["tpot_off"]) <= args.limit and abs(c["tps_off"]) <= args.limit
        verdict = ("agree" if fits else "client too slow" if not c["client_held"]
                   else "endpoint too slow" if not c["server_held"] else "DIFFER")
        good = good and verdict != "DIFFER"
        print(f"| {concurrency} | {c['tpot_live']:.3f} | {c['tpot']:.3f} | {c['tpot_off']:+.2f} |"
              f" {c['tps_live']:.0f} | {c['tps']:.0f} | {c['tps_off']:+.2f} |"
              f" {c['ttft_off']:+.2f} | {c['late_us']:.0f} µs | {verdict} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
