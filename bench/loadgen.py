#!/usr/bin/env python3
"""A null system under test through our LoadGen interface and through the stock library: queries a
second, and how late a server's queries go.

    bench/loadgen.py --stock FOLDER [--build build/release] [--rounds 5] [--python PYTHON] [--json]

FOLDER has the stock library's sources (the sdist of mlcommons-loadgen 6.0.17, unpacked); they are
compiled here, optimised as ours are. Both run tests/peers/null_sut.cc, in turns. Figures are
medians of the rounds; the ratio is ours by theirs.

  single_stream        queries/s of a test of 400,000 queries, without the trace
  single_stream_trace  the same with the trace
  multi_stream         samples/s of 50,000 queries of eight
  offline              samples/s of one query of 2,000,000
  accuracy             s for an accuracy test of 200,000 samples, each logged; less is better
  python_fast_sut      queries/s of a fast SUT in Python, SingleStream, 100,000 queries
  python_sut           the same of a plain one
  server_late_p99      ns at 10,000 queries/s: the 99th percentile of issue − schedule, where less
                       is better

The last two with --python: an interpreter that has the stock module and fits the built one.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "tests/peers/null_sut.cc"
COUNTED = ("*.*.min_duration = 0\n*.*.min_query_count = 400000\n"
           "*.SingleStream.target_latency = 0.001\n")
MANY = ("*.*.min_duration = 0\n*.MultiStream.min_query_count = 50000\n"
        "*.MultiStream.target_latency = 0.001\n*.Offline.min_query_count = 2000000\n")
SERVER = "*.*.min_duration = 2000\n*.*.min_query_count = 100\n*.Server.target_qps = 10000\n"
COUNTER = re.compile(r'"name":"Latency".*"issue_delay":(-?\d+)')


def build_stock(folder, out):
    sources = [path for path in sorted(folder.glob("*.cc"))] + sorted(folder.glob("generated/*.cc"))
    if not sources:
        raise SystemExit(f"error: {folder}: no sources of the stock library")
    subprocess.run(["g++", "-std=c++17", "-O3", "-DNDEBUG", "-w", f"-I{folder}", str(SOURCE),
                    *map(str, sources), "-o", str(out), "-pthread"], check=True)


PYTHON = """
import sys, time
import mlperf_loadgen as module
folder, fast = sys.argv[1], sys.argv[2] == "fast"
R = module.QuerySampleResponse
settings = module.TestSettings()
settings.min_duration_ms = 0
settings.min_query_count = 100000
settings.single_stream_expected_latency_ns = 1000
if fast:
    sut = module.ConstructFastSUT(
        lambda ids, rows: module.QuerySamplesComplete([R(i, 0, 0) for i in ids]), lambda: None)
else:
    sut = module.ConstructSUT(
        lambda samples: module.QuerySamplesComplete([R(s.id, 0, 0) for s in samples]), lambda: None)
rows = module.ConstructQSL(1024, 1024, lambda rows: None, lambda rows: None)
logs = module.LogSettings()
logs.log_output.outdir = folder
logs.enable_trace = False
module.StartTestWithLogSettings(sut, rows, settings, logs, "none")
"""


def run_python(python, kind, path):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": str(path)} if path else None
        subprocess.run([python, "-B", "-c", PYTHON, folder, kind], check=True, env=env,
                       capture_output=True)
        detail = (pathlib.Path(folder) / "mlperf_log_detail.txt").read_text()
    return float(re.search(r'"result_qps_with_loadgen_overhead", "value": ([\d.e+]+)', detail)[1])


def run(program, scenario, conf, trace, mode="2"):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "user.conf"
        config.write_text(conf + f"*.*.mode = {mode}\n")
        total = "200000" if mode == "1" else "1024"
        done = subprocess.run([program, scenario, "m", config, total, total, "-1",
                               "1" if mode == "1" else "0", "none", folder, trace],
                              check=True, capture_output=True, text=True)
        detail = (pathlib.Path(folder) / "mlperf_log_detail.txt").read_text()
        late = [int(found) for found in COUNTER.findall(
            (pathlib.Path(folder) / "mlperf_log_trace.json").read_text())]
    told = json.loads(done.stdout.splitlines()[-1])
    if mode == "1":
        return told["seconds"]
    if "VALID" not in detail or told["queries"] == 0:
        raise SystemExit(f"error: {program}: the test has no result")
    if scenario == "MultiStream":
        return told["queries"] * 8 / told["seconds"]
    rate = re.search(r'"result_(qps_with_loadgen_overhead|samples_per_second)", "value": '
                     r"([\d.e+]+)", detail)
    return float(rate[2]) if rate else sorted(late)[len(late) * 99 // 100]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stock", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [("single_stream", "SingleStream", COUNTED, "0"),
            ("single_stream_trace", "SingleStream", COUNTED, "1"),
            ("multi_stream", "MultiStream", MANY, "0"), ("offline", "Offline", MANY, "0"),
            ("accuracy", "Offline", COUNTED, "0", "1"),
            ("server_late_p99", "Server", SERVER, "1")]
    with tempfile.TemporaryDirectory() as folder:
        stock = pathlib.Path(folder) / "stock"
        build_stock(options.stock, stock)
        ours = options.build / "loadgen_null_sut"
        tests = {name: (lambda program, test=test: run(program, *test)) for name, *test in rows}
        for kind in ("fast_sut", "sut") if options.python else ():
            tests[f"python_{kind}"] = lambda program, kind=kind: run_python(
                options.python, kind[:4], None if program == stock else options.build / "python")
        for name, test in tests.items():
            pairs = [(test(ours), test(stock)) for _ in range(options.rounds)]
            mine, theirs = (statistics.median(side) for side in zip(*pairs))
            row = {"name": name, "ours": mine, "stock": theirs, "ratio": mine / theirs}
            print(json.dumps(row) if options.json else
                  f"{name:<22}{mine:>14,.6g}{theirs:>14,.6g}   ×{mine / theirs:.2f}", flush=True)


if __name__ == "__main__":
    main()
