#!/usr/bin/env python3
"""The explorer with 10,000 points in 500 curves: the API under load, and its page in Chromium.

    bench/explorer.py [--build build/release] [--rate 100] [--seconds 20] [--page] [--json]

Requests are due at fixed instants, whatever came back before: a late answer makes the next one no
later. Latency counts from the due instant. The client has CPU 0, the server CPU 1. Beside the
latencies stands what a request of each kind costs the server in CPU, one kind at a time: that says
something on a busy machine too, where the latencies do not; "waited" is how long the server was
ready and had no core. --page measures the first chart and filter-to-redraw in Chromium on the same
store (npm is needed for it; the page's own journey prints the same for exported files).
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import queue
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from machine import CLIENT_CORE, ROOT, SERVER_CORE, cpu_seconds, prepare, waited

CURVES, LEVELS = 500, 20
MODEL = "llama3_1-8b"  # as the store spells it, whatever its source does
HARDWARE = ("b200-sxm", "gb200", "mi355x", "h200-sxm", "h100-sxm", "mi300x", "tpu-v7", "l40s")
SOFTWARE = ("vllm 0.11", "sglang 0.5.4", "trtllm 1.1", "lmdeploy 0.10")


def write_curves(folder):
    """Curves as `assay simulate --json` writes them, from a seed."""
    draw = random.Random(7)
    for i in range(CURVES):
        count = draw.choice((1, 2, 4, 8, 16, 72))
        peak, fastest = count * draw.uniform(1500, 7500), draw.uniform(60, 360)
        points = []
        for k in range(LEVELS):
            level = max(k + 1, round(2 ** (k * 0.6)))
            share = level / (level + peak / fastest)
            each = fastest * (1 - share * 0.98)
            points.append({
                "concurrency": level, "queries": 2000, "system_tps": peak * share,
                "tps_per_user": each, "qps": peak * share / 660, "isl_mean": 990, "osl_mean": 660,
                "watts_mean": 900 * count,
                **{f"{name}_ms_{p}": value * factor
                   for name, value in (("ttft", 40 + 3 * level), ("tpot", 1000 / each),
                                       ("latency", 660e3 / each))
                   for p, factor in (("mean", 1), ("p50", 1), ("p90", 1.2), ("p99", 1.5))}})
        name = HARDWARE[i % len(HARDWARE)]
        system = f"{MODEL} fp8 on {count} x {name}, {SOFTWARE[i % 4]}, site {i}"
        (folder / f"curve{i}.json").write_text(json.dumps(
            {"kind": "simulated", "system": system, "calibration": "bench", "points": points}))


class Server:
    def __init__(self, assay, store):
        self.process = subprocess.Popen(
            ["taskset", "-c", SERVER_CORE, assay, "serve", "--store", store, "--port", "0",
             "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        told = json.loads(self.process.stdout.readline())
        self.url, self.token = told["url"], told["token"]
        self.host = urllib.parse.urlsplit(told["url"]).netloc

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Connection:
    def __init__(self, server):
        self.http = http.client.HTTPConnection(server.host, timeout=60)
        self.headers = {"Authorization": f"Bearer {server.token}"}

    def ask(self, path, etag=None):
        headers = self.headers if etag is None else {**self.headers, "If-None-Match": etag}
        self.http.request("GET", "/api/v1/" + path, headers=headers)
        reply = self.http.getresponse()
        body = reply.read()
        if reply.status not in (200, 304):
            sys.exit(f"{path}: status {reply.status}: {body[:200]}")
        return reply, body


def kinds_of(server):
    """name -> (how many of a hundred, a function that makes a request's path and its ETag)."""
    connection = Connection(server)
    everything = f"curves?model={MODEL}&limit=1000"
    reply, body = connection.ask(everything)
    curves = json.loads(body)["items"]
    points = [point["id"] for curve in curves for point in curve["points"]]
    if (len(curves), len(points)) != (CURVES, CURVES * LEVELS):
        sys.exit(f"the store has {len(curves)} curves with {len(points)} points")
    etag = reply.headers["ETag"]
    ids = [curve["id"] for curve in curves]
    draw = random.Random(11)
    return {
        "all curves, known": (20, lambda: (everything, etag)),
        "all curves": (2, lambda: (everything, None)),
        "curves of a filter": (18, lambda: (
            f"curves?model={MODEL}&accelerator={draw.choice(HARDWARE)}&limit=20", None)),
        "search": (5, lambda: (f"curves?q=site%20{draw.randrange(500)}&points=none", None)),
        "models": (10, lambda: ("models", None)),
        "systems": (5, lambda: ("systems?limit=100", None)),
        "a curve": (10, lambda: (f"curves/{draw.choice(ids)}", None)),
        "a report": (25, lambda: (f"runs/{draw.choice(points)}", None)),
        "a comparison": (5, lambda: (
            f"compare?a={draw.choice(ids)}&b={draw.choice(ids)}", None)),
    }


def cpu_costs(server, kinds, requests):
    """ms of the server's CPU a request, and bytes, of each kind alone."""
    connection = Connection(server)
    out = {}
    for name, (_, make) in kinds.items():
        before = cpu_seconds(server.process.pid)
        size = 0
        for _ in range(requests):
            path, etag = make()
            size += len(connection.ask(path, etag)[1])
        used = cpu_seconds(server.process.pid) - before
        out[name] = {"cpu_ms": 1000 * used / requests, "bytes": size / requests}
    return out


def load(server, kinds, rate, seconds, threads=8):
    """[(kind, seconds from the due instant to the last byte)]"""
    draw = random.Random(3)
    names = list(kinds)
    weights = [kinds[name][0] for name in names]
    work = queue.Queue()
    began = time.monotonic() + 0.2
    for i in range(int(rate * seconds)):
        name = draw.choices(names, weights)[0]
        work.put((began + i / rate, name, kinds[name][1]()))
    results = []

    def serve():
        connection = Connection(server)
        while True:
            try:
                due, name, (path, etag) = work.get_nowait()
            except queue.Empty:
                return
            time.sleep(max(0, due - time.monotonic()))
            connection.ask(path, etag)
            results.append((name, time.monotonic() - due))

    workers = [threading.Thread(target=serve) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def page_figures(server):
    done = subprocess.run(
        ["npx", "vitest", "run", "--config", "vitest.journeys.config.ts", "journeys/speed"],
        cwd=ROOT / "web", env={**os.environ, "ASSAY_SPEED_URL": server.url}, capture_output=True,
        text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if "first chart" in line]
    if done.returncode or not lines:
        sys.exit(done.stdout + done.stderr)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--requests", type=int, default=200, help="a kind, for its CPU")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    assay = options.build.resolve() / "assay"
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = pathlib.Path(temporary)
        (folder / "curves").mkdir()
        write_curves(folder / "curves")
        began = time.monotonic()
        subprocess.run([assay, "import", folder / "curves", "--store", folder / "s.db"],
                       check=True, stdout=subprocess.DEVNULL)
        imported = time.monotonic() - began
        server = Server(assay, folder / "s.db")
        stack.callback(server.stop)
        os.sched_setaffinity(0, {int(CLIENT_CORE)})
        kinds = kinds_of(server)
        costs = cpu_costs(server, kinds, options.requests)
        before = waited(server.process.pid), cpu_seconds(server.process.pid)
        results = load(server, kinds, options.rate, options.seconds)
        delay = waited(server.process.pid) - before[0]
        used = cpu_seconds(server.process.pid) - before[1]
        os.sched_setaffinity(0, range(os.cpu_count()))
        page = page_figures(server) if options.page else []
    taken = [seconds for _, seconds in results]
    total = {"import_s": imported, "rate": options.rate, "requests": len(taken),
             "p50_ms": 1000 * statistics.median(taken), "p99_ms": 1000 * percentile(taken, 0.99),
             "max_ms": 1000 * max(taken), "server_cpu_share": used / options.seconds,
             "server_waited_share": delay / options.seconds, "page": page}
    for name, row in costs.items():
        own = [seconds for kind, seconds in results if kind == name]
        row["p99_ms"] = 1000 * percentile(own, 0.99) if own else None
    if options.json:
        print(json.dumps({**total, "kinds": costs}, indent=2))
        return
    print(f"{CURVES * LEVELS:,} points in {CURVES} curves, imported in {imported:.1f} s\n")
    print("request               CPU ms    kB each    P99 ms under load")
    for name, row in costs.items():
        p99 = "-" if row["p99_ms"] is None else f"{row['p99_ms']:.1f}"
        print(f"{name:20}  {row['cpu_ms']:6.2f}  {row['bytes'] / 1000:9,.1f}  {p99:>18}")
    print(f"\n{options.rate:g} requests/s, {len(taken):,} in all: P50 {total['p50_ms']:.1f} ms, "
          f"P99 {total['p99_ms']:.1f} ms, at most {total['max_ms']:.1f} ms (wanted: P99 < 50 ms)")
    print(f"the server used {100 * total['server_cpu_share']:.0f} % of its core and waited "
          f"{100 * total['server_waited_share']:.0f} % of the time for it")
    for line in page:
        print(line)


if __name__ == "__main__":
    main()
