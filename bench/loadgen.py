#!/usr/bin/env python3
"""A null system under test through our LoadGen interface and through the stock library: queries a
second, and how late a server's queries go.

    bench/loadgen.py --stock FOLDER [--build build/release] [--rounds 5] [--json]

FOLDER has the stock library's sources (the sdist of mlcommons-loadgen 6.0.17, unpacked); they are
compiled here, optimised as ours are. Both run tests/peers/null_sut.cc, in turns. Figures are
medians of the rounds; the ratio is ours by theirs.

  single_stream        queries/s of a test of 400,000 queries, without the trace
  single_stream_trace  the same with the trace
  server_late_p99      ns at 10,000 queries/s: the 99th percentile of issue − schedule, where less
                       is better
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "tests/peers/null_sut.cc"
COUNTED = ("*.*.min_duration = 0\n*.*.min_query_count = 400000\n"
           "*.SingleStream.target_latency = 0.001\n")
SERVER = "*.*.min_duration = 2000\n*.*.min_query_count = 100\n*.Server.target_qps = 10000\n"
COUNTER = re.compile(r'"name":"Latency".*"issue_delay":(-?\d+)')


def build_stock(folder, out):
    sources = [path for path in sorted(folder.glob("*.cc"))] + sorted(folder.glob("generated/*.cc"))
    if not sources:
        raise SystemExit(f"error: {folder}: no sources of the stock library")
    subprocess.run(["g++", "-std=c++17", "-O3", "-DNDEBUG", "-w", f"-I{folder}", str(SOURCE),
                    *map(str, sources), "-o", str(out), "-pthread"], check=True)


def run(program, scenario, conf, trace):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "user.conf"
        config.write_text(conf)
        done = subprocess.run([program, scenario, "m", config, "1024", "1024", "-1", "0", "none",
                               folder, trace], check=True, capture_output=True, text=True)
        detail = (pathlib.Path(folder) / "mlperf_log_detail.txt").read_text()
        late = [int(found) for found in COUNTER.findall(
            (pathlib.Path(folder) / "mlperf_log_trace.json").read_text())]
    told = json.loads(done.stdout.splitlines()[-1])
    if "VALID" not in detail or told["queries"] == 0:
        raise SystemExit(f"error: {program}: the test has no result")
    rate = re.search(r'"result_qps_with_loadgen_overhead", "value": ([\d.e+]+)', detail)
    return float(rate[1]) if rate else sorted(late)[len(late) * 99 // 100]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stock", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [("single_stream", "SingleStream", COUNTED, "0"),
            ("single_stream_trace", "SingleStream", COUNTED, "1"),
            ("server_late_p99", "Server", SERVER, "1")]
    with tempfile.TemporaryDirectory() as folder:
        stock = pathlib.Path(folder) / "stock"
        build_stock(options.stock, stock)
        ours = options.build / "loadgen_null_sut"
        for name, *test in rows:
            pairs = [(run(ours, *test), run(stock, *test)) for _ in range(options.rounds)]
            mine, theirs = (statistics.median(side) for side in zip(*pairs))
            row = {"name": name, "ours": mine, "stock": theirs, "ratio": mine / theirs}
            print(json.dumps(row) if options.json else
                  f"{name:<22}{mine:>14,.0f}{theirs:>14,.0f}   ×{mine / theirs:.2f}", flush=True)


main()
