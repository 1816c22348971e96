#!/usr/bin/env python3
"""The Wan2.2 examples of the reference client, run twice: by it, unmodified, and by Assay.

    tools/against_videogen.py --endpoints DIR --python PYTHON [--queries N] [--service TIME]

DIR is a checkout of mlcommons/endpoints, PYTHON an interpreter in which it is installed. Each
example is run as it stands, but for the address, the folder, the counts, the rows (N of its own
prompts) and one worker with time to start, because each reads libraries for half a minute. It runs
against the built-in endpoint, whose service time is known. Both write
result_summary.json, and the submissions an audit: their keys must be the same, the counts and the
verdict equal, and the latencies apart by less than a tenth of the service time. Accuracy is left
out: VBench is not there. It prints a line for each example and every difference; the exit code is
1 when there is one.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLES = ["offline_wan22", "offline_wan22_accuracy", "offline_wan22_submission",
            "single_stream_wan22_submission"]
FOLDER = "examples/09_Wan22_VideoGen_Example"
AUDIT = "audit/audit_output_caching_test.json"
COUNTS = ["n_samples_issued", "n_samples_completed", "n_samples_failed"]
PERCENTILES = ["50.0", "90.0", "99.0"]


def small(text, url, rows, folder, queries):
    """The example with small data."""
    text = text.replace("http://localhost:8000", url)
    text = re.sub(r"path: \S*wan22_prompts.jsonl", f"path: {rows}", text)
    text = re.sub(r"\b(samples|n_samples_to_issue|audit_samples): \d+",
                  lambda found: f"{found.group(1)}: {queries}", text)
    text = re.sub(r"\n  - name: \w+_vbench\n( {4,}.*\n)+", "\n", text)
    text = re.sub(r"\n  client:\n    num_workers: \d+", "", text)
    text = text.replace("\nsettings:\n", "\nsettings:\n  client:\n    num_workers: 1\n"
                        "    worker_initialization_timeout: 300\n")
    return re.sub(r"report_dir: \S+", f"report_dir: {folder}", text)


def keys_of(value, path=""):
    """The names of all fields, those of Assay's own part left out."""
    if not isinstance(value, dict):
        return set()
    out = set()
    for key, inner in value.items():
        if path == "" and key == "assay":
            continue
        # What a percentile or a bucket is called is data.
        name = f"{path}/{key}" if not re.match(r"[\d.]+$", key) else f"{path}/*"
        out |= {name} | keys_of(inner, name)
    return out


def differences(theirs, ours, service_ns):
    left = json.loads((theirs / "performance/result_summary.json").read_text())
    right = json.loads((ours / "performance/result_summary.json").read_text())
    for key in sorted(keys_of(left) - keys_of(right)):
        yield f"{key}: is in the reference client's summary alone"
    for key in COUNTS:
        if left[key] != right[key]:
            yield f"{key}: {left[key]} and {right[key]}"
    for p in PERCENTILES:
        a, b = (one["latency"]["percentiles"][p] for one in (left, right))
        if abs(a - b) > service_ns / 10:
            yield f"latency P{p}: {a / 1e6:.2f} ms and {b / 1e6:.2f} ms"
    if (theirs / AUDIT).exists() != (ours / AUDIT).exists():
        yield f"{AUDIT}: one of the two has none"
    elif (theirs / AUDIT).exists():
        left, right = (json.loads((one / AUDIT).read_text()) for one in (theirs, ours))
        for key in sorted(left.keys() - right.keys()):
            yield f"audit: {key}: is the reference client's alone"
        for key in ("test", "passed", "ref_completed", "ref_requested", "audit_completed",
                    "audit_requested", "threshold"):
            if left.get(key) != right.get(key):
                yield f"audit: {key}: {left.get(key)} and {right.get(key)}"


def latencies(folder):
    summary = json.loads((folder / "performance/result_summary.json").read_text())
    return ", ".join(f"P{p} {summary['latency']['percentiles'][p] / 1e6:.2f} ms"
                     for p in PERCENTILES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--endpoints", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--queries", type=int, default=12)
    parser.add_argument("--service", type=int, default=300, help="ms of a video")
    args = parser.parse_args()
    program = os.environ.get("ASSAY_BIN", "build/release/assay")
    endpoint = subprocess.Popen([program, "endpoint", "--port", "0", "--ttft",
                                 f"{args.service}ms", "--osl", "1"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    url = next(found.group() for line in endpoint.stdout
               if (found := re.search(r"http://[\w.]+:\d+", line)))
    source = args.endpoints / FOLDER
    bad = 0
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        work = pathlib.Path(name)
        rows = work / "rows.jsonl"
        rows.write_text("".join((source / "wan22_prompts.jsonl").read_text().splitlines(True)
                                [:args.queries]))
        for example in EXAMPLES:
            text = (source / f"{example}.yaml").read_text()
            folders = []
            for who, command in (
                    ("theirs", [args.python, "-m", "inference_endpoint.main", "benchmark",
                                "from-config", "--mode", "perf", "--config"]),
                    ("ours", [program, "run", "--mode", "perf", "--allow-client-limited", "--quiet",
                              "--config"])):
                folder = work / f"{example}-{who}"
                config = work / f"{example}-{who}.yaml"
                config.write_text(small(text, url, rows, folder, args.queries))
                done = subprocess.run([*command, config], capture_output=True, text=True,
                                      timeout=600, cwd=work)
                folders.append(folder)
                if done.returncode:
                    bad += 1
                    print(f"{example}: {who} ended with {done.returncode}\n"
                          + "\n".join((done.stdout + done.stderr).splitlines()[-15:]))
            if not all((one / "performance/result_summary.json").exists() for one in folders):
                continue
            found = list(differences(*folders, args.service * 1e6))
            bad += len(found)
            print(f"{example}: {len(found)} differences; theirs {latencies(folders[0])}; ours "
                  f"{latencies(folders[1])}", *found, sep="\n  ", flush=True)
    endpoint.terminate()
    endpoint.wait()
    print(f"{bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
