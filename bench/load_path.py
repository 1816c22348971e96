#!/usr/bin/env python3
"""What the load path promises: `assay run` beside wrk and beside the least that a client can do.

    bench/load_path.py [--build build/release] [--seconds 3] [--rounds 3] [--only NAME] [--json]

Rivals take turns with us on the same server, so that a neighbour's load hits both; figures are
medians of the rounds. Everything that assay does is in its figure: parsed, timed, recorded. Where
the built-in endpoint would be the limit, the server is write_only, which does nothing but write.

  plain     queries/s of a tiny plain reply at 64 connections        rival: wrk
  events    stream events/s, one a write, 1,024 streams              limit: recv_only
  cost      CPU an event at 205,000 events/s, one a write            limit: recv_only
  batched   stream events/s, 16 a write, 64 streams                  limit: recv_only
  whole     stream events/s, a reply of 64 in one write, 64 streams  limit: recv_only
  stamps    CPU an event with the kernel's receive stamps            rival: without them
  watched   the same, and the lateness of sends, with telemetry   rival: without it
  tls       CPU an event of the same streams over TLS                rival: plain TCP
  steady    share of a core at 4,000 streams of 50 tokens/s    limit: recv_only
  late      sent - due of a Poisson schedule, asleep and spinning
  memory    the client's peak memory with 10,000 open streams
  start     `assay --version`
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from machine import ROOT, compiled, on_client_core, prepare, server

POST = """wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"model":"m","messages":[{"role":"user","content":"hello"}],"max_completion_tokens":1}'
"""


UNSTAMPED = ["--no-kernel-timestamps"]


class Bench:
    def __init__(self, options, work):
        self.seconds, self.rounds, self.work = options.seconds, options.rounds, work
        self.assay = options.build / "assay"
        self.recv_only = compiled("recv_only", options.build)
        self.write_only = compiled("write_only", options.build)
        (work / "post.lua").write_text(POST)
        (work / "prompts.jsonl").write_text('{"prompt": "hello"}\n')
        self.rows = []

    def endpoint(self, *flags):
        return [self.assay, "endpoint", "--port", "0", "--quiet", *flags]

    def run(self, port, *flags, streaming="on", scheme="http", wrap=(), dataset=None):
        """One run: its summary, with what the client says of itself under "own"."""
        folder = self.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        out = on_client_core(*wrap, self.assay, "run", "--endpoint", f"{scheme}://127.0.0.1:{port}",
                             "--model", "m", "--dataset", dataset or self.work / "prompts.jsonl",
                             "--streaming", streaming, "--report-dir", folder, "--quiet", "--json",
                             "--allow-client-limited", *flags)
        summary = json.loads(out)
        threads = json.loads((folder / "assay" / "client.json").read_text())["threads"]
        summary["own"] = threads[0] | {"cpu_share": sum(one["cpu_share"] for one in threads)}
        return summary

    def closed(self, port, concurrency, osl=64, scheme="http", more=()):
        """(queries/s, events/s, µs of CPU an event) of a closed loop; an OSL of 0 is no stream."""
        summary = self.run(port, "--concurrency", concurrency, "--duration", f"{self.seconds}s",
                           *more, streaming="on" if osl else "off", scheme=scheme)
        events = summary["qps"] * max(1, osl)
        return summary["qps"], events, 1e6 * summary["own"]["cpu_share"] / events

    def read(self, port, streams, osl):
        """The same of recv_only."""
        r = json.loads(on_client_core(self.recv_only, port, streams, self.seconds, osl, "stream"))
        return (r["replies"] / r["seconds"], r["events"] / r["seconds"],
                1e6 * r["cpu_seconds"] / r["events"])

    def row(self, name, ours, unit, rival=None, other=None, wanted=""):
        self.rows.append({"name": name, "ours": ours, "unit": unit, "rival": rival, "its": other,
                          "ratio": ours / other if other else None, "wanted": wanted})

    def compare(self, command, ours, its):
        """Medians of both sides over the rounds, taking turns on one server."""
        left, right = [], []
        with server(command) as (_, port):
            for _ in range(self.rounds):
                left.append(ours(port))
                right.append(its(port))
        return statistics.median(left), statistics.median(right)

    def plain(self):
        def wrk(port):
            said = on_client_core("wrk", "-t1", "-c64", f"-d{self.seconds:.0f}", "-s",
                                  self.work / "post.lua",
                                  f"http://127.0.0.1:{port}/v1/chat/completions")
            return float(said.split("Requests/sec:")[1].split()[0])

        ours, its = self.compare([self.write_only, 0],
                                 lambda port: self.closed(port, 64, osl=0)[0], wrk)
        self.row("plain replies, 64 connections", ours, "queries/s", "wrk", its, ">= 1.1 x")

    def events(self):
        ours, its = self.compare(self.endpoint("--osl", 64),
                                 lambda port: self.closed(port, 1024)[1],
                                 lambda port: self.read(port, 1024, 64)[1])
        self.row("one event a write, 1,024 streams", ours, "events/s", "recv_only", its,
                 ">= 300,000")

    def cost(self):
        ours, its = self.compare(self.endpoint("--osl", 64, "--itl", "5ms"),
                                 lambda port: self.closed(port, 1024)[2],
                                 lambda port: self.read(port, 1024, 64)[2])
        self.row("the same at 205,000 events/s", ours, "µs of CPU an event", "recv_only", its,
                 "<= 1.3 x")

    def stamps(self):
        ours, its = self.compare(self.endpoint("--osl", 64, "--itl", "5ms"),
                                 lambda port: self.closed(port, 1024)[2],
                                 lambda port: self.closed(port, 1024, more=UNSTAMPED)[2])
        self.row("with kernel stamps", ours, "µs of CPU an event", "without", its, "<= 1.05 x")

    def watched(self):
        """The collector shares the client's core here; a run gives it another where it can."""
        def watch(port):
            return ["--metrics", f"http://127.0.0.1:{port}/metrics", "--meter", "host",
                    "--metrics-interval", "100ms"]

        ours, its = self.compare(self.endpoint("--osl", 64, "--itl", "5ms"),
                                 lambda port: self.closed(port, 1024, more=watch(port))[2],
                                 lambda port: self.closed(port, 1024)[2])
        self.row("with telemetry each 100 ms", ours, "µs of CPU an event", "without", its,
                 "<= 1.02 x")

        def lag(port, figure, *more):
            run = self.run(port, "--rate", 1000, "--duration", f"{self.seconds}s", *more,
                           streaming="off")
            return run["own"]["send_lag"][f"{figure}_ns"] / 1000

        for figure in ("p50", "p99"):
            ours, its = self.compare(self.endpoint("--osl", 1),
                                     lambda port, f=figure: lag(port, f, *watch(port)),
                                     lambda port, f=figure: lag(port, f))
            self.row(f"its lateness at 1,000/s, {figure.upper()}", ours, "µs", "without", its)

    def tls(self):
        flags = ("--osl", 64, "--itl", "5ms")
        with server(self.endpoint(*flags)) as (_, plain), \
                server(self.endpoint(*flags, "--tls")) as (_, tls):
            both = [(self.closed(tls, 1024, scheme="https", more=["--insecure"])[2],
                     self.closed(plain, 1024)[2]) for _ in range(self.rounds)]
        ours, its = (statistics.median(column) for column in zip(*both))
        self.row("over TLS", ours, "µs of CPU an event", "plain", its, "<= 1.67 x")

    def batched(self):
        ours, its = self.compare([self.write_only, 64, 16], lambda port: self.closed(port, 64)[1],
                                 lambda port: self.read(port, 64, 64)[1])
        self.row("16 events a write, 64 streams", ours, "events/s", "recv_only", its,
                 ">= 2,500,000")

    def whole(self):
        ours, its = self.compare([self.write_only, 64, 64], lambda port: self.closed(port, 64)[1],
                                 lambda port: self.read(port, 64, 64)[1])
        self.row("a reply of 64 events in one write", ours, "events/s", "recv_only", its,
                 ">= 4,000,000")

    def steady(self):
        def share(port):
            run = self.run(port, "--concurrency", 4000, "--duration", f"{self.seconds}s")
            return run["own"]["cpu_share"]

        def least(port):
            queries, _, us_per_event = self.read(port, 4000, 64)
            return 1e-6 * us_per_event * 64 * queries

        ours, its = self.compare(self.endpoint("--osl", 64, "--itl", "20ms"), share, least)
        self.row("4,000 streams of 50 tokens/s", ours, "of a core", "recv_only", its, "<= 0.75")

    def late(self):
        for rate in (1_000, 10_000):
            for spin in ((), ("--spin",)):
                with server(self.endpoint("--osl", 1)) as (_, port):
                    runs = [self.run(port, "--rate", rate, "--duration", f"{self.seconds}s", *spin,
                                     streaming="off") for _ in range(self.rounds)]
                for figure, wanted in (("p50", ""), ("p99", "<= 30" if spin else "<= 60"),
                                       ("p999", "")):
                    late = statistics.median(run["own"]["send_lag"][f"{figure}_ns"] / 1000
                                             for run in runs)
                    how = ", spinning" if spin else ""
                    self.row(f"late at {rate:,}/s{how}, {figure.upper()}", late, "µs",
                             wanted=wanted)

    def memory(self):
        with server(self.endpoint("--osl", 32, "--itl", "200ms")) as (_, port):
            note = self.work / "peak"
            self.run(port, "--concurrency", 10_000, "--samples", 10_000,
                     wrap=("/usr/bin/time", "-f", "%M", "-o", note))
        self.row("10,000 open streams", int(note.read_text().split()[-1]) / 1024, "MB",
                 wanted="<= 200")

    def start(self):
        took = []
        for _ in range(20):
            before = time.perf_counter()
            subprocess.run([self.assay, "--version"], check=True, stdout=subprocess.DEVNULL)
            took.append(1e3 * (time.perf_counter() - before))
        self.row("assay --version", statistics.median(took), "ms", wanted="<= 10")


CASES = [Bench.plain, Bench.events, Bench.cost, Bench.stamps, Bench.watched, Bench.tls,
         Bench.batched, Bench.whole, Bench.steady, Bench.late, Bench.memory, Bench.start]


def text(row):
    def number(value):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"

    line = f"{row['name']:<34} {number(row['ours']):>10} {row['unit']:<18}"
    if row["its"]:
        line += f" {row['rival']} {number(row['its'])}: {row['ratio']:.2f} x"
    return f"{line:<94} {row['wanted']}".rstrip()


def main(kind, cases, about):
    """Runs the cases of a Bench, all or those that --only names, and prints their rows."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=[case.__name__ for case in cases])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory() as work:
        bench = kind(options, pathlib.Path(work))
        for case in cases:
            if options.only and case.__name__ not in options.only:
                continue
            seen = len(bench.rows)
            case(bench)
            if not options.json:
                print("\n".join(map(text, bench.rows[seen:])), flush=True)
    if options.json:
        print(json.dumps(bench.rows, indent=2))


if __name__ == "__main__":
    main(Bench, CASES, __doc__)
