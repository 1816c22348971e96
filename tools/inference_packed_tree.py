#!/usr/bin/env python3
"""A submission to MLPerf Inference that `assay pack` made of runs, before both checkers.

    tools/inference_packed_tree.py INFERENCE_GIT [--build build/release] [--python PYTHON]
                                   [--runs DIR]

Runs bert-99 at the edge through mlperf_loadgen of the build (SingleStream and Offline: the test of
600 s, TEST01's, and the accuracy run), with a system that answers with the number of the row; the
F1 is invented. The runs go side by side and take ten minutes; --runs keeps them, or takes those
that a run before left there. Then it packs them, and asks `assay check --suite inference` and the
official checker of INFERENCE_GIT, a git directory of github.com/mlcommons/inference, about the tree
and about damages to it: each file gone, each file empty, and wrong values of logs and descriptions.
It prints where their verdicts differ; the exit code is 1 where they differ but for the rules in
which ours is documented to be stricter. PYTHON fits the build's module; it needs PyYAML.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import inference_tree  # noqa: E402
from inference_verdicts import official_checker  # noqa: E402

SCENARIOS = ["SingleStream", "Offline"]
STRICTER = {"inf-result-valid", "inf-token-limits"}
USER_CONF = "*.SingleStream.target_latency = 100\n*.Offline.target_qps = 16\n"
HARNESS = """
import array, queue, sys, threading, time
import mlperf_loadgen as lg
scenario, mode, conf, audit, out = sys.argv[1:]
settings = lg.TestSettings()
settings.scenario = getattr(lg.TestScenario, scenario)
assert settings.FromConfig(conf, "bert", scenario) == 0
settings.mode = getattr(lg.TestMode, mode)
logs = lg.LogSettings()
logs.log_output.outdir = out
logs.enable_trace = False
asked = queue.Queue()
def answer():
    while (samples := asked.get()) is not None:
        if mode == "PerformanceOnly":
            time.sleep(0.1 if scenario == "SingleStream" else 601)
        rows = array.array("q", [sample.index for sample in samples])
        at = rows.buffer_info()[0]
        lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, at + 8 * i, 8)
                                 for i, sample in enumerate(samples)])
thread = threading.Thread(target=answer)
thread.start()
sut = lg.ConstructSUT(asked.put, lambda: None)
rows = lg.ConstructQSL(10833, 10833, lambda rows: None, lambda rows: None)
lg.StartTestWithLogSettings(sut, rows, settings, logs, audit)
asked.put(None)
"""


def run_all(runs, options):
    """Each run's folder has LoadGen's logs and, below assay/, the event log."""
    runs.mkdir(parents=True, exist_ok=True)
    (runs / "user.conf").write_text(USER_CONF)
    audit = subprocess.run([options.program, "loadgen", "compliance", "TEST01", "--audit-config",
                            "--model", "bert"], check=True, capture_output=True).stdout
    (runs / "audit.config").write_bytes(audit)
    started = []
    for scenario in SCENARIOS:
        for kind in ("performance", "TEST01", "accuracy"):
            out = runs / scenario / kind
            if (out / "mlperf_log_summary.txt").exists():
                continue
            out.mkdir(parents=True)
            env = {**os.environ, "PYTHONPATH": str((options.build / "python").resolve()),
                   "ASSAY_LOADGEN_RUN_FOLDER": str(out)}
            mode = "AccuracyOnly" if kind == "accuracy" else "PerformanceOnly"
            started.append((out, subprocess.Popen(
                [options.python, "-B", "-c", HARNESS, scenario, mode, runs / "user.conf",
                 runs / "audit.config" if kind == "TEST01" else "none", out], env=env)))
    for out, one in started:
        if one.wait() != 0:
            raise SystemExit(f"error: {out}: the run ended with code {one.returncode}")


def pack(runs, folder, options):
    results = {}
    for scenario in SCENARIOS:
        at = runs / scenario
        verdict = folder / scenario / "TEST01"
        done = subprocess.run(
            [options.program, "loadgen", "compliance", "TEST01", at / "TEST01", "--reference",
             at / "performance", "--accuracy", at / "accuracy", "--out", verdict], check=False,
            capture_output=True, text=True)
        print(f"{scenario}: TEST01 exit code {done.returncode}: {done.stdout.splitlines()[:1]}")
        (at / "accuracy/accuracy.txt").write_text('{"exact_match": 83.5, "f1": 90.5}\n')
        results[scenario] = {
            "performance": str(at / "performance"), "accuracy": str(at / "accuracy"),
            "user_conf": str(runs / "user.conf"), "readme": str(folder / "README.md"),
            "measurements": dict.fromkeys(["input_data_types", "retraining", "weight_data_types",
                                           "starting_weights_filename", "weight_transformations"],
                                          "none"),
            "tests": {"TEST01": {"verdict": str(verdict), "logs": str(at / "TEST01")}}}
    inference_tree.put(folder / "README.md", "How to run it.\n")
    inference_tree.put(folder / "src/README.md", "code\n")
    inference_tree.describe(folder / "system.json", "closed", "edge")
    (folder / "plan.yaml").write_text(json.dumps(
        {"division": "closed", "submitter": "Invented", "src": "src",
         "systems": {"box": {"description": "system.json", "results": {"bert-99": results}}}}))
    subprocess.run([options.program, "pack", "--suite", "inference", folder / "plan.yaml", "--out",
                    folder / "packed"], check=True, stdout=subprocess.DEVNULL)
    return folder / "packed"


# A wrong value of a log, of a kind that a rule looks at, and one of a kind that none does.
VALUES = {
    "sut_name": '""', "effective_scenario": '"Server"', "effective_min_duration_ms": "1000",
    "effective_min_query_count": "1", "effective_samples_per_query": "7",
    "effective_qsl_rng_seed": "1", "effective_sample_index_rng_seed": "2",
    "effective_schedule_rng_seed": "3", "effective_performance_sample_count": "100",
    "effective_accuracy_sample_count": "100", "qsl_reported_total_count": "9",
    "requested_use_token_latencies": "true", "early_stopping_met": "false",
    "result_validity": '"INVALID"', "num_errors": "3", "effective_target_latency_ns": "1"}


def damages(tree):
    out = {}
    logs = []
    for path in sorted(one.relative_to(tree) for one in tree.rglob("*") if one.is_file()):
        out[f"{path} gone"] = inference_tree.drop(path)
        out[f"{path} empty"] = inference_tree.add(path, "")
        if path.name == "mlperf_log_detail.txt":
            logs.append(path)
    for path in logs:
        text = (tree / path).read_text()
        for key, new in VALUES.items():
            if f'"{key}"' in text and f'"{key}", "value": {new},' not in text:
                out[f"{path} {key}={new}"] = inference_tree.value(path, key, new)
        out[f"{path} error"] = inference_tree.append(
            path, inference_tree.log_line("error_runtime", "late", True) + "\n")
    for path in sorted(one.relative_to(tree) for one in tree.rglob("accuracy.txt")):
        out[f"{path} low"] = inference_tree.edit(path, r'"f1": 90\.5', '"f1": 89.9')
        out[f"{path} no hash"] = inference_tree.edit(path, r"^hash.*\n", "")
    for path in sorted(one.relative_to(tree) for one in tree.rglob("*.json")):
        if path.name in ("measurements.json", "box.json"):
            for key in json.loads((tree / path).read_text()):
                out[f"{path} no {key}"] = inference_tree.field(path, key, None)
    for path in sorted(one.relative_to(tree) for one in tree.rglob("verify_*.txt")):
        out[f"{path} fails"] = inference_tree.edit(path, "PASS", "FAIL")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inference")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=pathlib.Path)
    options = parser.parse_args()
    options.program = (options.build / "assay").resolve()
    differ = 0
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        runs = (options.runs or folder / "runs").resolve()
        run_all(runs, options)
        tree = pack(runs, folder, options)
        official = official_checker(options.inference, folder / "checker")
        changes = damages(tree)
        for name, damage in {"": lambda root: None, **changes}.items():
            root = shutil.copytree(tree, folder / "damaged")
            damage(root)
            theirs = official(root)
            ours = subprocess.run([options.program, "check", "--suite", "inference", root],
                                  check=False, capture_output=True, text=True)
            rules = set(re.findall(r"\[(inf-[\w-]+)\]", ours.stdout))
            same = (ours.returncode != 0) == (theirs != 0)
            stricter = theirs == 0 and bool(rules) and rules <= STRICTER
            if not name:
                print(f"the tree: official {theirs}, ours {ours.returncode} {sorted(rules)}")
            elif not same:
                print(f"{name}: official {theirs}, ours {ours.returncode} {sorted(rules)}"
                      + (", documented" if stricter else ""))
            differ += not same and not stricter
            shutil.rmtree(root)
    print(f"{len(changes)} damages, {differ} verdicts differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
