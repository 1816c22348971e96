"""A round of the small board: qwen3.6-27b, single stream, run and checked."""

import json

import pytest


@pytest.fixture
def edge_round(assay, endpoint, tmp_path):
    """edge_round(flags) -> the run's folder: two recorded conversations, one query at a time."""
    rows = []
    for name in ("sim_1", "sim_2"):
        rows.append({"conversation_id": name, "turn": 1, "role": "user", "content": "list files",
                     "system": "be brief"})
        rows.append({"conversation_id": name, "turn": 2, "role": "assistant", "content": "ls",
                     "intent_codes": ["I001"]})
        rows.append({"conversation_id": name, "turn": 3, "role": "user", "content": "thanks"})
    tmp_path.joinpath("agentic_coding_2.5h.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows))

    def go(*flags):
        server = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", 6)
        folder = tmp_path / "run"
        done = assay("run", "--workload", "qwen3.6-27b", "--scenario", "single_stream", "--mode",
                     "perf", "--dataset-dir", tmp_path, "--endpoint", server.url, "--report-dir",
                     folder, *flags, code=None)
        assert done.code in (0, 4), done.err  # a busy machine may hold the client up
        return folder

    return go


def checks(done):
    return {one["name"]: one["passed"] for one in done.json()["checks"]}


def test_the_workloads_single_stream_is_its_conversations_one_at_a_time(assay, edge_round):
    folder = edge_round()
    summary = json.loads((folder / "performance/result_summary.json").read_text())
    assert summary["n_samples_completed"] == 20 * 2 and summary["n_samples_failed"] == 0
    done = assay("check", folder, "--json", code=1)
    passed = checks(done)
    for name in ("temperature", "model_params.seed", "dataloader_random_seed", "num_workers",
                 "max_connections", "target_concurrency", "turns"):
        assert passed[name], name
    # What was not measured has not passed.
    assert not passed["accuracy"] and "context of 32768" in done.err
    assert "OVERALL: FAIL" in assay("check", folder, code=1).out


def test_a_run_with_other_settings_is_found(assay, edge_round):
    folder = edge_round("--temperature", 0.5, "--seed", 7)
    passed = checks(assay("check", folder, "--json", code=1))
    assert not passed["temperature"] and not passed["model_params.seed"]
    assert passed["max_connections"]
