#!/usr/bin/env python3
"""`--find qps` against the built-in endpoint, whose edge is known from theory.

    bench/find_rate.py [--program build/release/assay] [--searches 20] [--begin 0] [--seconds 12]
                       [--keep DIR]

The endpoint answers sixteen requests at once, each in 8 ms, in the order of their arrival: with
LoadGen's Poisson arrivals an M/D/16 queue. Its edge is the rate at which just 1 % of the queries
take longer than the limit of 40 ms (Franx, "A simple solution for the M/D/c waiting time
distribution", 2001; checked here against a queue played through). Each search begins elsewhere,
with the seeds of another round. It prints the cost that the program states, the rate found, the
interval and the error; the exit code is 1 where one is off by more than 3 %. A long probe lasts
--seconds.
"""

import argparse
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SERVERS, SERVICE, LIMIT = 16, 0.008, 0.040
EDITIONS = ["v5.0", "v5.1", "v6.0", "v6.1"]
FIRST = [200, 666, 1800, 3000, 8000]
STATES = 400


def share_over(rate, chances):
    """P(wait + service > limit) at `rate`. `chances`: where the iteration begins; it leaves the
    distribution of the number of requests in the system there."""
    mean = rate * SERVICE
    arrivals = [math.exp(-mean)]
    while len(arrivals) < 60:
        arrivals.append(arrivals[-1] * mean / len(arrivals))
    for _ in range(4000):
        begin = [sum(chances[:SERVERS + 1]), *chances[SERVERS + 1:]] + [0.0] * SERVERS
        after = [sum(arrivals[k] * begin[n - k] for k in range(min(n + 1, len(arrivals))))
                 for n in range(STATES)]
        moved = max(abs(a - b) for a, b in zip(after, chances))
        chances[:] = after
        if moved < 1e-8:
            break
    cumulative = list(itertools.accumulate(chances))
    wait = LIMIT - SERVICE
    k = math.floor(wait / SERVICE + 1e-9) + 1
    x = rate * (k * SERVICE - wait)
    term, within = math.exp(-x), 0.0
    for j in range(k * SERVERS):
        within += cumulative[(k + 1) * SERVERS - 1 - j] * term
        term *= x / (j + 1)
    return 1 - within


def edge_of_theory():
    low, high = 0.5 * SERVERS / SERVICE, 0.97 * SERVERS / SERVICE
    chances = [1.0] + [0.0] * (STATES - 1)
    while high - low > 0.1:
        middle = (low + high) / 2
        if share_over(middle, chances) > 0.01:
            high = middle
        else:
            low = middle
    return low


def played(rate, queries=2_000_000):
    """The share of a queue that is played through: the slow twin of share_over()."""
    draw = random.Random(1)
    free, at, over = [0.0] * SERVERS, 0.0, 0
    for i in range(queries):
        at += draw.expovariate(rate)
        done = max(at, free[i % SERVERS]) + SERVICE  # a fixed service keeps the order
        free[i % SERVERS] = done
        over += done - at > LIMIT + 1e-9
    return over / queries


def search(program, url, number, options, folder):
    edition = EDITIONS[number % len(EDITIONS)]
    first = FIRST[number // len(EDITIONS) % len(FIRST)]
    conf = folder / "user.conf"
    conf.write_text(f"*.Server.target_qps = {first}\n*.Server.target_latency = {LIMIT * 1e3:g}\n"
                    f"*.Server.min_duration = {options.seconds * 1000}\n"
                    "*.Server.min_query_count = 100\n")
    begin = time.monotonic()
    done = subprocess.run(
        [program, "run", "--scenario", "server", "--find", "qps", "--edition", edition,
         "--config", conf, "--endpoint", url, "--model", "m", "--dataset",
         folder / "prompts.jsonl", "--report-dir", folder / f"search{number}", "--json"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: search {number}: exit code {done.returncode}\n{done.stderr}")
    cost = next(line for line in done.stderr.splitlines() if line.startswith("qps: at most"))
    return edition, first, cost, json.loads(done.stdout), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/assay")
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--begin", type=int, default=0, help="the number of the first search")
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    edge = edge_of_theory()
    seen = played(edge)
    print(f"theory: {edge:.2f} queries/s; a queue played at it has {seen * 100:.3f} % too late")
    if abs(seen - 0.01) > 0.003:
        raise SystemExit("error: theory and the queue that is played through differ")
    good = inside = 0
    with tempfile.TemporaryDirectory() as at:
        folder = options.keep or pathlib.Path(at)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prompts.jsonl").write_text('{"prompt": "one"}\n{"prompt": "two"}\n')
        with subprocess.Popen([options.program, "endpoint", "--port", "0", "--quiet", "--osl", "1",
                               "--ttft", f"{SERVICE * 1e3:g}ms", "--concurrency", str(SERVERS)],
                              stdout=subprocess.PIPE, text=True) as endpoint:
            try:
                url = endpoint.stdout.readline().strip()
                for number in range(options.begin, options.begin + options.searches):
                    edition, first, cost, found, took = search(options.program, url, number,
                                                               options, folder)
                    error = found["edge"] / edge - 1
                    good += abs(error) <= 0.03
                    inside += found["low"] <= edge <= found["high"]
                    print(f"{number + 1:>3} {edition} from {first:>5}: {found['edge']:8.2f} "
                          f"({found['low']:.1f} to {found['high']:.1f}) {error * 100:+6.2f} %  "
                          f"{len(found['steps'])} probes, {took / 60:.2f} min; {cost}", flush=True)
            finally:
                endpoint.terminate()
    print(f"{good} of {options.searches} within 3 %; {inside} intervals hold the edge")
    sys.exit(0 if good == options.searches else 1)


if __name__ == "__main__":
    main()
