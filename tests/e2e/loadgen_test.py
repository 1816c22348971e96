"""`assay loadgen`: what an MLPerf LoadGen test asks. The numbers are LoadGen 6.0.17's."""

import json

import pytest

LINES = """\
*.Server.target_qps = 2000
*.Server.min_duration = 200
*.Server.min_query_count = 500
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "user.conf"
    path.write_text(LINES)
    return path


def test_a_plan_has_settings_queries_and_due_times(assay, config):
    plan = assay("loadgen", "plan", "--config", config, "--scenario", "Server", "--samples", 5000,
                 "--loaded", 1024, "--queries", 3, "--json").json()
    assert plan["requested"]["qsl_rng_seed"] == 2085463073848966840
    assert plan["effective"]["target_qps"] == 2000
    (series,) = plan["series"]
    assert series["query_count"] == 500 and len(series["queries"]) == 3
    assert series["loaded"][:4] == [216, 267, 822, 906]
    assert [query["samples"] for query in series["queries"]] == [[784], [618], [960]]
    assert [query["due_ns"] for query in series["queries"]] == [0, 921827, 1150788]


def test_a_person_reads_the_same(assay, config):
    text = assay("loadgen", "plan", "--config", config, "--model", "bert", "--scenario", "Server",
                 "--samples", 5000, "--loaded", 1024, "--edition", "v5.1").out
    assert "target_latency_ns               130000000\n" in text
    assert "qsl_rng_seed                    1780908523862526354\n" in text


def test_a_key_that_loadgen_has_not_is_named_and_ignored(assay, config):
    config.write_text(LINES + "*.Sever.target_qps = 5\n")
    done = assay("loadgen", "plan", "--config", config, "--scenario", "Server", "--samples", 10,
                 "--json")
    assert '"*.Sever.target_qps" is not a setting of LoadGen' in done.err
    assert done.json()["effective"]["target_qps"] == 2000


def test_an_audit_comes_after_the_mode_of_the_command_line(assay, config, tmp_path):
    audit = tmp_path / "audit.config"
    audit.write_text("*.*.mode = 2\n*.*.accuracy_log_rng_seed = 7\nbert.*.min_query_count = 1\n")
    plan = assay("loadgen", "plan", "--config", config, "--scenario", "Server", "--model", "bert",
                 "--samples", 10, "--mode", "AccuracyOnly", "--audit", audit, "--json").json()
    assert plan["effective"]["test_mode"] == "PerformanceOnly"
    assert plan["effective"]["accuracy_log_rng_seed"] == 7
    assert plan["effective"]["min_query_count"] == 500


@pytest.mark.parametrize("lines,words", [
    ("*.*.min_duration = ten\n", 'line 1: "ten" is not a number'),
    ("*.*.mode = 4\n", "mode: must be 0 to 3"),
    ("*.Server.target_qps = 0\n", "queries per second"),
    ("*.*.performance_issue_unique = 1\n*.*.performance_issue_same = 1\n",
     "only one can be set"),
    ("*.*.min_duration = 99999999999999\n", "min_duration"),
])
def test_settings_that_give_no_test_are_refused(assay, config, lines, words):
    config.write_text(lines)
    done = assay("loadgen", "plan", "--config", config, "--scenario", "Server", "--samples", 10,
                 code=2)
    assert words in done.err


def test_an_offline_test_without_a_query_is_refused(assay, config):
    # LoadGen itself ends with a segmentation fault here.
    config.write_text("*.*.performance_issue_unique = 1\n"
                      "*.*.performance_sample_count_override = 90\n")
    done = assay("loadgen", "plan", "--config", config, "--scenario", "Offline", "--samples", 10,
                 code=2)
    assert "no query" in done.err


def summary(assay, tmp_path, record, *args, code=0):
    path = tmp_path / "measured.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    return assay("loadgen", "summary", path, "--scenario", "Server", "--samples", 10, *args,
                 code=code)


def test_a_verdict_has_its_exit_code_and_reasons(assay, tmp_path, config):
    good = {"sut_name": "mine", "queries_issued": 500, "sample_latencies_ns": [9_000_000] * 500,
            "last_due_ns": 250_000_000, "last_issued_ns": 250_000_000, "last_done_ns": 259_000_000}
    done = summary(assay, tmp_path, good, "--config", config)
    assert "SUT name : mine\n" in done.out and "Result is : VALID\n" in done.out
    slow = {**good, "sample_latencies_ns": [9_000_000] * 490 + [11_000_000] * 10}
    told = summary(assay, tmp_path, slow, "--config", config, "--json", code=1).json()
    assert not told["valid"] and not told["performance_met"]
    assert told["reasons"] == "Reduce target QPS to improve latency. "
    assert "Would need to run at least" in told["latency"]["text"]


def test_a_record_that_is_no_record_is_refused(assay, tmp_path, config):
    for record, words in [("[1]", "must be an object"), ("{}", "sample_latencies_ns"),
                          ({"sample_latencies_ns": ["1"]}, "whole numbers"), ("{", "measured")]:
        assert words in summary(assay, tmp_path, record, code=2).err
    assert "RECORD" in assay("loadgen", "summary", "--samples", 1, code=2).err
    assert "RECORD" in assay("loadgen", "plan", config, "--samples", 1, code=2).err
