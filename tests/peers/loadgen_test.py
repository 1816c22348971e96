"""LoadGen's queries, schedule, settings and summary against the stock library: the same to the
nanosecond and to the letter.

A null system under test answers at once; the stock library's trace has each sample's place, index
and due time, its detail log the settings in force.
"""

import json
import pathlib
import re
import subprocess
import sys

import pytest

STOCK = pathlib.Path(__file__).with_name("loadgen_stock.py")
SAMPLE = re.compile(r'"name":"Sample".*"ph":"b".*"ts":(\d+)\.(\d{3}),"args":\{"sample_seq":(\d+),'
                    r'"query_seq":(\d+),"sample_idx":(\d+)')
SHORT = """\
*.*.min_duration = 60
*.*.min_query_count = 40
*.SingleStream.target_latency = 0.5
*.MultiStream.target_latency = 1
*.Server.target_qps = 2000
*.Offline.target_qps = 2000
"""
SMALL = "*.*.performance_sample_count_override = 48\n*.*.sample_concatenate_permutation = {}\n"
SCENARIOS = ["SingleStream", "MultiStream", "Server", "Offline"]


def cases():
    """Name, and what one test is: a model, a scenario, a file, the sample library."""
    for scenario in SCENARIOS:
        for name, lines, library in [
                ("plain", "", {"samples": 500}),
                ("few_loaded", "", {"samples": 500, "loaded": 64}),
                ("one_sample", "", {"samples": 1}),
                ("odd_set", SMALL.format(0), {"samples": 37}),
                ("overridden", SMALL.format(0), {"samples": 500, "loaded": 100}),
                ("accuracy", "*.*.mode = 1\n", {"samples": 101, "loaded": 32}),
                ("accuracy_overridden",
                 "*.*.mode = 1\n*.*.accuracy_sample_count_override = 45\n", {"samples": 101}),
                ("same", "*.*.performance_issue_same = 1\n*.*.performance_issue_same_index = 3\n",
                 {"samples": 64}),
                ("unique", "*.*.performance_issue_unique = 1\n"
                 "*.*.performance_sample_count_override = 64\n", {"samples": 64}),
                ("logged", "*.*.accuracy_log_rng_seed = 77\n"
                 "*.*.accuracy_log_sampling_target = 20\n", {"samples": 64}),
                ("submission", "*.*.mode = 0\n*.*.accuracy_log_sampling_target = 9\n",
                 {"samples": 50, "loaded": 32})]:
            yield f"{scenario}-{name}", {"scenario": scenario, "model": "resnet50",
                                         "lines": lines, **library}
        # MultiStream pads whole passes to a set that has its neighbours twice.
        for name, model, lines, library in [
                ("passes", "gptj", SMALL.format(1), {"samples": 48}),
                ("passes_of_many", "3d-unet", "", {"samples": 43}),
                ("passes_accuracy", "rgat", SMALL.format(1) + "*.*.mode = 1\n",
                 {"samples": 100})]:
            yield f"{scenario}-{name}", {"scenario": scenario, "model": model, "lines": lines,
                                         **library}
    for qps in ("0.5e3", "777.7", "9999"):
        yield f"Server-at-{qps}", {"scenario": "Server", "model": "bert", "samples": 200,
                                   "lines": f"*.Server.target_qps = {qps}\n"}
    yield "Server-tokens", {"scenario": "Server", "model": "llama2-70b-interactive",
                            "samples": 64, "tokens": 5, "lines": SMALL.format(1)}
    yield "Offline-numbers", {"scenario": "Offline", "model": "bert", "samples": 200,
                              "lines": "*.*.min_query_count = 0x50 7.9 070\n"}
    # Every order of look-up in one file.
    yield "Offline-looked_up", {
        "scenario": "Offline", "model": "bert", "samples": 200,
        "lines": "bert.*.min_duration = 11\n*.Offline.min_duration = 12\n*.*.min_duration = 13\n"
                 "bert.Offline.target_qps = 400\n*.Offline.target_qps = 500\n"
                 "bert.*.max_duration = 70000\n"}
    # The whole shuffle beyond 65,535 samples, and large loaded sets.
    yield "Offline-large", {"scenario": "Offline", "model": "rgat", "samples": 70001,
                            "lines": "*.*.performance_sample_count_override = 70001\n"}
    yield "Server-large", {"scenario": "Server", "model": "dlrm-v2", "samples": 70001, "lines": ""}


def stock_run(spec, folder, env=None):
    done = subprocess.run([sys.executable, "-B", str(STOCK)], capture_output=True, text=True,
                          input=json.dumps({**spec, "folder": str(folder)}), timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def traced(folder):
    """Per query: when it was due (ns, from any origin), its samples' (place, index)."""
    queries = {}
    for line in (folder / "mlperf_log_trace.json").read_text().splitlines():
        found = SAMPLE.search(line)
        if not found:
            continue
        micros, nanos, place, query, index = map(int, found.groups())
        due, samples = queries.setdefault(query, (micros * 1000 + nanos, []))
        assert due == micros * 1000 + nanos
        samples.append((place, index))
    return [(due, [index for _, index in sorted(samples)])
            for _, (due, samples) in sorted(queries.items())]


def detail(folder):
    """Key -> its values in order. Values are not escaped, so a line may be no JSON."""
    out = {}
    for line in (folder / "mlperf_log_detail.txt").read_text().splitlines():
        found = re.match(r':::MLLOG \{"key": "(\w+)", "value": (.*?), "time_ms"', line)
        if found:
            out.setdefault(found[1], []).append(found[2])
    return out


def six_digits(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def ours(assay, spec):
    args = ["--config", spec["config"], "--model", spec["model"], "--scenario", spec["scenario"],
            "--samples", spec["samples"], "--loaded", spec.get("loaded", spec["samples"])]
    return assay("loadgen", "plan", *args, "--queries", 1 << 40, "--json").json()


def same_settings(plan, stock, log):
    renamed = {"ttft_latency": "server_ttft_latency", "tpot_latency": "server_tpot_latency"}
    for name, value in stock["fields"].items():
        if name.startswith("server_find_peak") or name == "server_num_issue_query_threads":
            continue
        if name == "token_latency_scaling_factor" and not stock["fields"]["infer_token_latencies"]:
            continue  # the stock library leaves it uninitialised
        assert plan["requested"][renamed.get(name, name)] == value, name
    for name, value in plan["effective"].items():
        assert log[f"effective_{name}"] == [six_digits(value)], name


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in cases()])
def test_queries_are_the_stock_librarys(assay, tmp_path, spec):
    config = tmp_path / "user.conf"
    config.write_text(SHORT + spec["lines"])
    spec = {**spec, "config": str(config)}
    stock = stock_run(spec, tmp_path)
    plan = ours(assay, spec)
    log = detail(tmp_path)
    same_settings(plan, stock, log)

    series = plan["series"]
    for key, name in [("generated_query_count", "query_count"),
                      ("generated_samples_per_query", "samples_per_query"),
                      ("generated_query_duration", "duration_ns")]:
        assert log[key] == [str(one[name]) for one in series]
    assert [json.loads(value) for value in log["loaded_qsl_set"]] == [one["loaded"]
                                                                      for one in series]

    # SingleStream and MultiStream end when time and number are met: then the rest is not issued.
    asked = traced(tmp_path)
    assert [samples for _, samples in asked] == stock["issued"] and asked
    whole = spec["scenario"] in ("Server", "Offline")
    logged = []
    for one in series:
        mine = asked[:len(one["queries"])]
        assert len(mine) == len(one["queries"]) or not whole
        del asked[:len(mine)]
        for (due, samples), query in zip(mine, one["queries"]):
            assert samples == query["samples"]
            assert not whole or due - mine[0][0] == query["due_ns"]
            logged += query["accuracy_log"]
    assert not asked
    told = json.loads((tmp_path / "mlperf_log_accuracy.json").read_text())
    assert sorted(entry["qsl_idx"] for entry in told) == sorted(logged)


def judged_cases():
    over = "*.Server.target_latency = 0\n"
    longer = "*.*.min_query_count = 700\n*.SingleStream.target_latency = 0.1\n"
    for scenario in SCENARIOS:
        for name, lines, tokens in [
                ("plain", "", None), ("longer", longer, None), ("over", over, None),
                ("too_short", "*.*.max_query_count = 10\n", None),
                ("percentile", longer + "*.*.target_latency_percentile = 97.5\n"
                 f"*.{scenario}.target_latency_percentile = 97.5\n", None),
                ("no_duration", "*.*.min_duration = 0\n", None),
                ("tokens", longer, 7), ("one_token", "", 1), ("no_tokens", "", 0),
                ("slow_tokens", longer + over + "*.Server.tpot_latency = 0\n", 5),
                ("slow_first_token", longer + over + "*.Server.ttft_latency = 0\n", 5)]:
            if tokens is not None:
                lines += "*.*.use_token_latencies = 1\n"
            yield f"{scenario}-{name}", {"scenario": scenario, "model": "pointpainting",
                                         "samples": 64, "lines": lines, "tokens": tokens}
    for scenario in ("Server", "Offline"):
        yield f"{scenario}-inferred", {"scenario": scenario, "model": "gptj", "samples": 48,
                                       "lines": SMALL.format(1), "tokens": None}


def recorded(folder, spec):
    """What the stock library measured, from its trace, in the form of `loadgen summary`."""
    samples, first = {}, {}
    for line in (folder / "mlperf_log_trace.json").read_text().splitlines():
        found = SAMPLE.search(line)
        token = re.search(r'"name":"Token".*"sample_seq":(\d+).*"complete_ns":(\d+)', line)
        counter = re.search(r'"name":"Token_Latency".*"ts":([\d.]+).*"issue_delay":(\d+),'
                            r'"issue_to_done":(-?\d+)', line)
        if found:
            micros, nanos, place, query, _ = map(int, found.groups())
            issue, done = map(int, re.search(r'"issue_start_ns":(\d+),"complete_ns":(\d+)',
                                             line).groups())
            samples[place] = (query, micros * 1000 + nanos, issue, done)
        elif token:
            first[int(token[1])] = int(token[2])
        elif counter:
            first[len(first)] = int(counter[2]) + int(counter[3])
    places = sorted(samples)
    queries = {}
    for place in places:
        query, _, _, done = samples[place]
        queries[query] = max(done, queries.get(query, 0))
    start = samples[places[0]][1]
    _, due, issue, done = samples[places[-1]]
    text = (folder / "mlperf_log_detail.txt").read_text()
    offline = spec["scenario"] == "Offline"
    return {"sut_name": "PySUT", "queries_issued": len(queries),
            "sample_latencies_ns": [samples[place][3] for place in places],
            "query_latencies_ns": [queries[query] for query in sorted(queries)],
            "first_tokens_ns": [] if offline else [first[place] for place in sorted(first)],
            "tokens": [spec["tokens"]] * len(places) if spec["tokens"] is not None else [],
            "last_due_ns": due - start, "last_issued_ns": due - start + issue,
            "last_done_ns": due - start + done,
            "warnings": text.count('"is_warning": true'), "errors": text.count('"is_error": true')}


@pytest.mark.parametrize("spec", [pytest.param(spec, id=name) for name, spec in judged_cases()])
def test_the_summary_is_the_stock_librarys(assay, tmp_path, spec):
    config = tmp_path / "user.conf"
    config.write_text(SHORT + spec["lines"])
    spec = {**spec, "config": str(config)}
    stock_run(spec, tmp_path)
    record = tmp_path / "measured.json"
    record.write_text(json.dumps(recorded(tmp_path, spec)))
    done = assay("loadgen", "summary", record, "--config", config, "--model", spec["model"],
                 "--scenario", spec["scenario"], "--samples", spec["samples"], "--json", code=None)
    told = done.json()
    theirs = (tmp_path / "mlperf_log_summary.txt").read_text()
    # The trace does not say when the test began, so rates from then on are not exact.
    with_overhead = re.compile(r"^(QPS|TPS) w/ loadgen overhead .*\n", re.MULTILINE)
    assert with_overhead.sub("", told["summary"]) == with_overhead.sub("", theirs)
    assert done.code == (0 if "Result is : VALID" in theirs else 1)
    log = detail(tmp_path)
    assert log.get("result_invalid_reason", ['""']) == [f'"{told["reasons"]}"']
    assert log["early_stopping_met"] == [six_digits(told["early_stopping_met"])]
    if spec["scenario"] == "SingleStream" and spec["tokens"] is None:
        found = told["latency"]
        assert log["early_stopping_latency_ss"] == [str(found.get("estimate_ns", 0))]
        assert log["early_stopping_latency_ms"] == [str(found.get("estimate_99_ns", 0))]


def test_every_models_settings_are_the_stock_librarys(assay, tmp_path):
    """The built-in file: all models, all scenarios, read by both."""
    reader = """
import json, sys
import mlperf_loadgen as stock
out = []
for model, scenario in json.load(sys.stdin):
    settings = stock.TestSettings()
    settings.scenario = getattr(stock.TestScenario, scenario)
    settings.FromConfig("", model, scenario, 0)
    fields = {name: getattr(settings, name) for name in dir(settings)
              if not name.startswith("_") and name != "FromConfig"}
    out.append({"fields": {name: value if isinstance(value, (int, float)) else value.name
                           for name, value in fields.items()}})
json.dump(out, sys.stdout)
"""
    models = ["resnet50", "ssd-mobilenet", "retinanet", "bert", "dlrm", "dlrm-v2", "dlrm-v3",
              "rnnt", "gptj", "mixtral-8x7b", "llama2-70b", "llama2-70b-interactive",
              "llama3_1-405b", "llama3_1-405b-interactive", "llama3_1-8b", "llama3_1-8b-edge",
              "llama3_1-8b-interactive", "stable-diffusion-xl", "wan-2.2-t2v-a14b", "rgat",
              "pointpainting", "deepseek-r1", "deepseek-r1-interactive", "whisper",
              "qwen3-vl-235b-a22b", "yolo", "3d-unet", "gpt-oss-120b",
              "gpt-oss-120b-interactive", "nobody"]
    pairs = [(model, scenario) for model in models for scenario in SCENARIOS]
    done = subprocess.run([sys.executable, "-c", reader], capture_output=True, text=True,
                          input=json.dumps(pairs), timeout=120)
    assert done.returncode == 0, done.stderr
    short = tmp_path / "short.conf"  # so that there is little to list
    short.write_text("")
    for (model, scenario), stock in zip(pairs, json.loads(done.stdout)):
        plan = assay("loadgen", "plan", "--model", model, "--scenario", scenario, "--samples", 10,
                     "--queries", 0, "--config", short, "--json").json()
        same_settings({**plan, "effective": {}}, stock, {})
