"""The suites' workloads by name: what is listed is what runs."""

import json


def test_the_list_names_what_can_be_shown(assay):
    listed = assay("workloads", "--json").json()
    assert len(listed) >= 18
    for entry in listed:
        for edition in entry["editions"]:
            shown = assay("workloads", entry["workload"], "--edition", edition, "--json").json()
            assert shown["edition"] == edition
            assert shown["quality"] and shown["sources"]


def test_a_missing_dataset_says_who_publishes_it(assay, tmp_path):
    err = assay("run", "--workload", "llama3.1-8b", "--endpoint", "http://localhost:1",
                "--concurrency", 1, "--dataset-dir", tmp_path, code=2).err
    assert "abisee/cnn_dailymail" in err
    assert "article, highlights, id" in err


def test_a_workload_runs_with_its_sampling_and_reports_its_limits(assay, endpoint, tmp_path):
    workload = tmp_path / "mine.yaml"
    workload.write_text(json.dumps({
        "workload": "mine", "title": "Two questions", "edition": "mine", "task": "answers",
        "model": {"id": "m"}, "api": "openai", "metric": "queries/s", "prompt": "as it stands",
        "scorer": "none", "sources": ["this test"],
        "config": {"model_params": {"name": "m", "temperature": 0.25, "max_new_tokens": 7},
                   "datasets": [{"name": "two", "type": "performance"}]},
        "datasets": {"two": {"rows": 3, "file": "two.jsonl", "published": "nowhere",
                             "columns": ["prompt"]}},
        "scenarios": {"server": {"queries_min": 4,
                                 "limits": {"ttft_ms_p99": 60000, "latency_ms_p99": 1e-6}}},
        "quality": [{"metric": "f", "reference": 1, "at_least": 1}]}), encoding="utf-8")
    (tmp_path / "two.jsonl").write_text('{"prompt": "one"}\n{"prompt": "two"}\n', encoding="utf-8")
    done = assay("run", "--workload", workload, "--scenario", "server", "--rate", 200,
                 "--dataset-dir", tmp_path, "--endpoint", endpoint().url, "--report-dir",
                 tmp_path / "run", "--allow-client-limited")
    assert "ttft_ms_p99" in done.out and "limit 60000 ms: met" in done.out
    assert "limit 1e-06 ms: NOT met" in done.out
    assert "two has 2 rows here, and the suite's has 3" in done.err
    config = (tmp_path / "run" / "config.yaml").read_text(encoding="utf-8")
    assert "temperature: 0.25" in config and "n_samples_to_issue: 4" in config
