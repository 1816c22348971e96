"""`assay run --scenario`: LoadGen's scenarios, made short by a user.conf."""

import json

import pytest

SHORT = """\
*.SingleStream.min_query_count = 70
*.SingleStream.target_latency = 1
*.MultiStream.min_query_count = 30
*.MultiStream.target_latency = 1
*.MultiStream.target_latency_percentile = 70
*.Server.target_qps = 400
*.Server.target_latency = 5000
*.Server.min_query_count = 500
*.Offline.target_qps = 200
*.Offline.min_query_count = 120
"""
SHORT += "".join(f"*.{name}.min_duration = {ms}\n" for name, ms in (
    ("SingleStream", 200), ("MultiStream", 200), ("Server", 200), ("Offline", 1)))


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "user.conf"
    path.write_text(SHORT)
    return path


@pytest.fixture
def scenario(assay, endpoint, conf, tmp_path):
    """scenario(name, flags..., code=0) -> result_summary with its run folder under "folder"."""

    def go(name, *flags, code=0, server=("--ttft", "1ms", "--itl", "0", "--osl", 4)):
        folder = tmp_path / f"{name}{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--scenario", name, "--config", conf, "--endpoint",
                     endpoint(*server).url, "--model", "m", "--isl", 16, "--prompts", 64,
                     "--report-dir", folder, "--json", "--allow-client-limited", *flags, code=code)
        return done.json() | {"folder": folder, "err": done.err}

    return go


METRICS = {"single_stream": ("early_stopping_latency_ss", "ms"),
           "multi_stream": ("early_stopping_latency_ms", "ms"),
           "server": ("result_completed_samples_per_sec", "samples/s"),
           "offline": ("result_samples_per_second", "samples/s")}


@pytest.mark.parametrize("name", METRICS)
def test_each_scenario_has_its_metric_and_is_valid(assay, scenario, name):
    run = scenario(name)
    said = run["loadgen"]
    assert said["valid"] and said["reasons"] == "", said
    assert (said["metric"]["name"], said["metric"]["unit"]) == METRICS[name]
    assert said["metric"]["value"] > 0
    summary = (run["folder"] / "performance/mlperf_log_summary.txt").read_text()
    assert "Result is : VALID" in summary and "No errors encountered" in summary
    # The folder says the same again, and verify finds every figure in the events.
    text = assay("report", run["folder"]).out
    assert "VALID" in text and "no MLPerf result" in " ".join(text.split())
    assert assay("report", run["folder"], "--json").json()["loadgen"] == said
    assert "no MLPerf result" in (run["folder"] / "report.txt").read_text()
    assert "no MLPerf result" in (run["folder"] / "report.html").read_text()
    assay("verify", run["folder"])


def test_the_samples_are_loadgens_in_loadgens_order(assay, scenario, conf):
    run = scenario("server")
    plan = assay("loadgen", "plan", "--scenario", "Server", "--config", conf, "--samples", 64,
                 "--queries", 5000, "--json").json()["series"][0]
    asked = json.loads((run["folder"] / "sample_idx_map.json").read_text())["performance"]
    order = [query["samples"][0] for query in plan["queries"]]
    assert len(order) == plan["query_count"] == run["loadgen"]["queries"]
    assert list(asked.values()) == order


def test_mode_1_asks_each_row_of_the_accuracy_dataset_once_and_measures_nothing(
        assay, endpoint, conf, tmp_path):
    conf.write_text(SHORT + "*.*.mode = 1\n")
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"prompt": "text {i}", "answer": "A"}}\n' for i in range(20)))
    common = ["run", "--scenario", "server", "--config", conf, "--endpoint",
              endpoint("--osl", 2).url, "--model", "m", "--dataset", f"perf:{rows}"]
    done = assay(*common, "--report-dir", tmp_path / "none", code=2)
    assert "--dataset acc:FILE" in " ".join(done.err.split())
    scored = ",".join([f"acc:{rows}", "accuracy_config.eval_method=rouge",
                       "accuracy_config.extractor=identity_extractor",
                       "accuracy_config.ground_truth=answer"])
    run = tmp_path / "run"
    summary = assay(*common, "--dataset", scored, "--report-dir", run, "--json",
                    "--allow-client-limited").json()
    assert summary["n_samples_issued"] == 0 and "loadgen" not in summary
    assert json.loads((run / "sample_idx_map.json").read_text()).get("performance", {}) == {}
    logs = run / "accuracy"
    entries = json.loads((logs / "mlperf_log_accuracy.json").read_text())
    assert sorted(entry["qsl_idx"] for entry in entries) == list(range(20))
    assert '"effective_test_mode", "value": "AccuracyOnly"' in (
        logs / "mlperf_log_detail.txt").read_text()
    assert "No errors encountered" in (logs / "mlperf_log_summary.txt").read_text()
    assert not list((run / "performance").glob("mlperf_log_*"))
    assert (logs / "accuracy.txt").read_text().startswith("{'rouge1'")
    assay("verify", run)


def test_a_broken_limit_is_invalid_with_loadgens_words(scenario, conf):
    conf.write_text(SHORT + "*.Server.target_latency = 2\n")
    run = scenario("server", code=1, server=("--ttft", "30ms", "--osl", 1))
    assert not run["loadgen"]["valid"]
    assert run["loadgen"]["reasons"].startswith("Reduce target QPS to improve latency.")
    assert run["exit"]["causes"][0]["why"].startswith("the test is INVALID")
    summary = (run["folder"] / "performance/mlperf_log_summary.txt").read_text()
    assert "Performance constraints satisfied : NO" in summary


def test_failed_samples_make_a_test_invalid(scenario):
    run = scenario("offline", code=1, server=("--osl", 1, "--fault", "http500=0.05"))
    assert "samples failed" in run["loadgen"]["reasons"]
    assert run["loadgen"]["failed_samples"] > 0


def test_multi_stream_sends_eight_when_eight_have_ended(scenario, assay):
    run = scenario("multi_stream", "--events-jsonl")
    issued, done = [], []
    for line in (run["folder"] / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        kind = str(event.get("event_type", ""))
        if kind.endswith("sample.issued") or kind.endswith("SAMPLE_ISSUED"):
            issued.append(event["timestamp_ns"])
        if kind.endswith("sample.complete") or kind.endswith("SAMPLE_COMPLETE"):
            done.append(event["timestamp_ns"])
    assert run["loadgen"]["samples"] == 8 * run["loadgen"]["queries"]
    assert len(issued) == len(done)
    for group in range(1, len(issued) // 8):
        assert min(issued[8 * group:8 * group + 8]) >= max(done[8 * group - 8:8 * group])


def test_offline_states_the_clients_cap(scenario):
    run = scenario("offline", "--max-in-flight", 7)
    assert run["loadgen"]["asked"]["in_flight_max"] == 7
    assert "at most 7 in flight" in run["err"]


@pytest.fixture
def workload(tmp_path):
    """A workload of the suite's kind, with LoadGen's name of a model, and its twenty rows."""
    rows = [{"article": f"text {i}", "highlights": "x", "id": str(i)} for i in range(20)]
    path = tmp_path / "mine.yaml"
    path.write_text(json.dumps({
        "workload": "mine", "title": "Texts", "edition": "inference-v6.1", "task": "answers",
        "model": {"id": "m", "loadgen": "llama3_1-8b"}, "api": "openai", "metric": "tokens/s",
        "prompt": "as it stands", "scorer": "none", "sources": ["this test"],
        "config": {"model_params": {"name": "m", "max_new_tokens": 8},
                   "datasets": [{"name": "texts", "type": "performance"}]},
        "datasets": {"texts": {"rows": 20, "file": "texts.jsonl", "published": "nowhere",
                               "columns": ["article"], "parser": {"prompt": "article"}}},
        "scenarios": {"server": {"limits": {"ttft_ms_p99": 2000, "tpot_ms_p99": 100}},
                      "interactive": {"limits": {"ttft_ms_p99": 500, "tpot_ms_p99": 30}}},
        "quality": [{"metric": "f", "reference": 1, "at_least": 1}]}), encoding="utf-8")
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_workload_brings_model_edition_and_limits(assay, endpoint, conf, workload, tmp_path):
    url = endpoint("--ttft", "1ms", "--itl", "0", "--osl", 6).url
    for scenario, model, ttft in (("server", "llama3_1-8b", 2_000_000_000),
                                  ("interactive", "llama3_1-8b-interactive", 500_000_000)):
        folder = tmp_path / scenario
        done = assay("run", "--workload", workload, "--scenario", scenario, "--config", conf,
                     "--dataset-dir", tmp_path, "--endpoint", url, "--report-dir", folder,
                     "--json", "--allow-client-limited")
        said = done.json()["loadgen"]
        assert said["valid"], said
        assert said["asked"]["model"] == model and said["asked"]["edition"] == "v6.1"
        assert said["metric"]["name"] == "result_completed_tokens_per_second"
        assert said["tokens"] == 6 * said["samples"] and said["ttft_ns"] < ttft


def test_find_slo_takes_the_workloads_limits(assay, endpoint, workload, tmp_path):
    done = assay("curve", "--find", "slo", "--workload", workload, "--scenario", "server",
                 "--dataset-dir", tmp_path, "--endpoint",
                 endpoint("--ttft", "5ms", "--itl", "0", "--osl", 4).url, "--max-concurrency", 4,
                 "--report-dir", tmp_path / "slo", "--json", "--allow-client-limited")
    found = done.json()
    assert found["slo"] == "ttft_p99<=2000ms,tpot_p99<=100ms" and found["good"] == 4
    assert "the workload's limits: ttft_p99<=2000ms" in done.err
    bare = assay("curve", "--find", "slo", "--endpoint", "http://127.0.0.1:1", "--model", "m",
                 "--isl", 4, "--report-dir", tmp_path / "none", code=2)
    assert "with limits" in " ".join(bare.err.split())


@pytest.mark.parametrize("flags,words", [
    (["--scenario", "server", "--rate", 5, "--config", "CONF"], "leave one out"),
    (["--scenario", "upside_down"], "needs --workload NAME"),
    (["--scenario", "interactive", "--config", "CONF"], "needs --workload"),
    (["--scenario", "server", "--edition", "v4.0", "--config", "CONF"], "names no release"),
    (["--scenario", "single_stream", "--threads", 2, "--config", "CONF"], "from one thread"),
    (["--scenario", "server", "--streaming", "off", "--config", "TOKENS"], "need a stream"),
    (["--audit-config", "CONF"], "needs --scenario"),
    (["--find", "qps"], "needs --scenario server"),
    (["--scenario", "server", "--config", "PEAK"], "--find qps"),
])
def test_what_is_no_test_is_refused(assay, conf, tmp_path, flags, words):
    (tmp_path / "tokens.conf").write_text(SHORT + "*.*.use_token_latencies = 1\n")
    (tmp_path / "peak.conf").write_text("*.*.mode = 3\n")
    names = {"CONF": conf, "TOKENS": tmp_path / "tokens.conf", "PEAK": tmp_path / "peak.conf"}
    done = assay("run", *[names.get(flag, flag) for flag in flags], "--endpoint",
                 "http://127.0.0.1:1", "--model", "m", "--no-preflight", "--isl", 4, code=2)
    assert words in " ".join(done.err.split())


def test_find_qps_says_its_cost_and_finds_the_capacity(assay, endpoint, conf, tmp_path):
    conf.write_text("*.Server.min_duration = 2000\n*.Server.min_query_count = 1\n"
                    "*.Server.target_qps = 60\n*.Server.target_latency = 100\n")
    # Four at a time, 20 ms each: 200 a second at most.
    done = assay("run", "--scenario", "server", "--find", "qps", "--config", conf, "--endpoint",
                 endpoint("--ttft", "20ms", "--osl", 1, "--concurrency", 4).url, "--model", "m",
                 "--isl", 8, "--prompts", 32, "--report-dir", tmp_path / "found", "--json",
                 "--allow-client-limited")
    found = done.json()
    assert "minutes at most" in done.err
    # A slow machine lowers the edge; nothing lifts it far over what four slots can do.
    assert 0 < found["edge"] < 260 and found["bad"] is not None, found
    assert found["low"] <= found["edge"] <= found["high"]
    assert (tmp_path / "found/search/q00/assay/events-0.alog").exists()
    assert len(found["steps"]) <= 20


def audited(assay, scenario, test, name, tmp_path, code=0):
    """The run of a scenario with the test's own audit.config."""
    audit = tmp_path / f"{test}.config"
    audit.write_text(assay("loadgen", "compliance", test, "--audit-config").out)
    return scenario(name, "--audit-config", audit, code=code)


def test_test04_catches_a_cache_and_passes_a_system_without_one(assay, scenario, tmp_path):
    plain = scenario("offline")["folder"]
    audit = audited(assay, scenario, "TEST04", "offline", tmp_path)["folder"]
    rows = json.loads((audit / "sample_idx_map.json").read_text())["performance"].values()
    assert len(set(rows)) == 1
    for reference, run in ((plain, audit), (audit, plain)):
        done = assay("loadgen", "compliance", "TEST04", run, "--reference", reference,
                     "--out", tmp_path / "TEST04", code=None)
        if run is plain:
            assert done.code == 2 and "does not ask one sample" in done.err
            continue
        text = (tmp_path / "TEST04/verify_performance.txt").read_text()
        assert done.code == (0 if "TEST PASS" in text else 1)
        assert "reference score" in text
    fast = scenario("offline", "--audit-config", tmp_path / "TEST04.config",
                    server=("--ttft", "0", "--itl", "0", "--osl", 1))["folder"]
    slow = scenario("offline", server=("--ttft", "20ms", "--osl", 1, "--concurrency", 4))["folder"]
    caught = assay("loadgen", "compliance", "TEST04", fast, "--reference", slow, "--json", code=1)
    assert caught.json()["passed"] is False
    assert caught.json()["files"][0]["lines"][-1] == "TEST FAIL"


def test_test09_and_test06_read_the_logged_answers(assay, scenario, tmp_path):
    # 100 queries are too few for early stopping: the run is INVALID, and its answers count.
    run = audited(assay, scenario, "TEST06", "server", tmp_path, code=1)["folder"]
    done = assay("loadgen", "compliance", "TEST09", run, "--least", 3.9, "--most", 4.1)
    assert "4.00 tokens" in done.out and "TEST PASS" in done.out
    assay("loadgen", "compliance", "TEST09", run, code=1)
    # No tokenizer counted the answers, so their lengths are the system's own word.
    refused = assay("loadgen", "compliance", "TEST06", run, code=2)
    assert "--tokenizer" in refused.err


def test_test01_wants_its_three_runs(assay, scenario, tmp_path):
    run = scenario("offline")["folder"]
    for flags, words in (((), "--reference"), (("--reference", run), "--accuracy"),
                         (("--reference", run, "--accuracy", run), "no accuracy phase")):
        done = assay("loadgen", "compliance", "TEST01", run, *flags, code=2)
        assert words in done.err


def test_test01_compares_the_logged_answers_and_the_speed(assay, endpoint, conf, tmp_path):
    conf.write_text("*.Offline.min_duration = 1\n*.Offline.min_query_count = 60\n")
    (tmp_path / "acc.conf").write_text("*.*.mode = 1\n")
    (tmp_path / "audit.config").write_text(
        assay("loadgen", "compliance", "TEST01", "--audit-config").out)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"prompt": "text {i}", "answer": "A"}}\n' for i in range(30)))
    url = endpoint("--ttft", "2ms", "--osl", 4).url
    scored = ",".join([f"acc:{rows}", "accuracy_config.eval_method=rouge",
                       "accuracy_config.extractor=identity_extractor",
                       "accuracy_config.ground_truth=answer"])
    runs = {"accuracy": ["--config", tmp_path / "acc.conf", "--dataset", scored],
            "plain": ["--config", conf],
            "audit": ["--config", conf, "--audit-config", tmp_path / "audit.config"]}
    for name, flags in runs.items():
        assay("run", "--scenario", "offline", *flags, "--dataset", f"perf:{rows}", "--endpoint",
              url, "--model", "m", "--report-dir", tmp_path / name, "--quiet",
              "--allow-client-limited")
    done = assay("loadgen", "compliance", "TEST01", tmp_path / "audit", "--reference",
                 tmp_path / "plain", "--accuracy", tmp_path / "accuracy", "--out",
                 tmp_path / "TEST01", "--json", code=None)
    said = done.json()
    assert [file["file"] for file in said["files"]] == ["verify_accuracy.txt",
                                                        "verify_performance.txt"]
    # The sampling target is above the number of samples, so each is logged.
    assert said["files"][0]["lines"][0] == (
        "30 answers of the accuracy run, 60 logged in performance mode")
    assert said["files"][0]["lines"][1].startswith("60 compared, ")
    assert done.code == (0 if said["passed"] else 1)
    for file in said["files"]:
        text = (tmp_path / "TEST01" / file["file"]).read_text()
        assert text == "\n".join(file["lines"]) + "\n"
        assert ("TEST PASS" in text) == file["passed"]


def test_a_run_does_its_compliance_tests_itself(assay, scenario, endpoint, conf, tmp_path):
    run = scenario("offline", "--compliance", "TEST04", code=None)
    said, = run["compliance"]
    below = run["folder"] / "compliance/TEST04"
    text = (below / "verify_performance.txt").read_text()
    assert said["test"] == "TEST04" and said["passed"] == ("TEST PASS" in text)
    assert run["exit"]["code"] == (0 if said["passed"] else 1)
    rows = json.loads((below / "run/sample_idx_map.json").read_text())["performance"].values()
    assert len(set(rows)) == 1 and len(rows) == run["loadgen"]["samples"]
    # By hand the verdict is the same, word for word, and the folder is whole.
    alone = assay("loadgen", "compliance", "TEST04", below / "run", "--reference", run["folder"],
                  "--json", code=None).json()
    assert alone == said
    assert (below / "audit.config").read_text() == assay(
        "loadgen", "compliance", "TEST04", "--audit-config").out
    assay("verify", run["folder"])
    assay("verify", below / "run")


def test_compliance_tests_that_a_run_cannot_serve_are_refused_before_it(scenario, assay):
    for flags, words in ((("TEST01",), "mode = 0"), (("TEST03",), "is not a test"),
                         (("TEST04,TEST04",), "twice"), (("TEST07",), "accuracy_config"),
                         (("TEST09",), "gpt-oss-120b"), (("all",), "--workload")):
        code = assay("run", "--scenario", "offline", "--endpoint", "http://127.0.0.1:9", "--model",
                     "m", "--isl", 16, "--prompts", 4, "--compliance", *flags, code=2)
        assert words in code.err, code.err
    done = assay("run", "--endpoint", "http://127.0.0.1:9", "--model", "m", "--compliance",
                 "TEST04", "--concurrency", 1, "--samples", 2, code=2)
    assert "--scenario" in done.err


def test_test08_compares_two_logs(assay, tmp_path):
    import struct

    def log(name, *payloads):
        path = tmp_path / name
        path.write_text("[\n" + ",\n".join(
            json.dumps({"seq_id": i, "qsl_idx": i,
                        "data": struct.pack(f"<{len(p)}f", *p).hex().upper()})
            for i, p in enumerate(payloads)) + "\n]\n")
        return path

    accuracy = log("a.json", (90, 1, .8, .3, 1, 0, 1, 1, 2), (90, 2, .6, .4, 0, 1, 1, 1, 2))
    same = log("b.json", (90, 2, .6, .4))
    other = log("c.json", (90, 2, .7, .4))
    assert "TEST PASS" in assay("loadgen", "compliance", "TEST08", same, "--accuracy",
                                accuracy).out
    assay("loadgen", "compliance", "TEST08", other, "--accuracy", accuracy, code=1)
