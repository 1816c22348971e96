"""A run folder, read by a stranger: Python's own json, the reference client's keys, and every
figure of the summary computed anew from events.jsonl by the definitions as they stand."""

import hashlib
import json
import math

import pytest

SUMMARY_KEYS = [
    "version", "git_sha", "test_started_at", "n_samples_issued", "n_samples_completed",
    "n_samples_failed", "duration_ns", "state", "complete", "ttft", "tpot", "latency",
    "output_sequence_lengths", "input_sequence_lengths", "legacy_loadgen_window_duration_ns", "qps",
    "tps", "finish_reason_counts", "run_config",
]
BLOCK_KEYS = ["total", "min", "max", "median", "avg", "std_dev", "percentiles",
              "early_stopping_percentiles", "histogram"]
PERCENTILES = ["99.9", "99.0", "97.0", "95.0", "90.0", "80.0", "75.0", "50.0", "25.0", "10.0",
               "5.0", "1.0"]
REASONS = ["stop", "length", "tool_calls", "content_filter", "function_call", "other"]
COUNTERS = [
    "total_samples_issued", "total_samples_completed", "total_samples_failed",
    "tracked_samples_issued", "tracked_samples_completed", "tracked_samples_failed",
    *(f"tracked_finish_reason_{reason}" for reason in REASONS), "tracked_duration_ns",
    "legacy_loadgen_window_duration_ns", "total_duration_ns",
]
EVENT_KEYS = ["event_type", "timestamp_ns", "sample_uuid", "conversation_id", "turn", "data"]
SAMPLES = 120


@pytest.fixture(name="folder")
def a_run(assay, endpoint, tmp_path):
    server = endpoint("--osl", 12, "--ttft", "4ms", "--itl", "1ms", "--seed", 3, "--fault",
                      "http500=0.1,truncate=0.1")
    assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 8, "--samples", SAMPLES,
          "--report-dir", tmp_path / "run", "--quiet", "--events-jsonl", "--allow-client-limited",
          code=7)
    return tmp_path / "run"


def load(path):
    return json.loads(path.read_text())


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_files_have_the_reference_keys_in_their_order(folder):
    summary = load(folder / "performance/result_summary.json")
    assert list(summary)[:len(SUMMARY_KEYS)] == SUMMARY_KEYS
    assert {"system_tps", "tps_per_user", "assay"} <= set(summary)
    for name in ("ttft", "tpot", "latency"):
        assert list(summary[name]) == BLOCK_KEYS
        assert list(summary[name]["percentiles"]) == PERCENTILES
        assert list(summary[name]["early_stopping_percentiles"]) == PERCENTILES[:8]
        assert sum(summary[name]["histogram"]["counts"]) == summary["n_samples_completed"]
    assert list(summary["output_sequence_lengths"]) == [
        key for key in BLOCK_KEYS if key != "early_stopping_percentiles"]
    assert list(summary["finish_reason_counts"]) == REASONS
    warmup = summary["run_config"]["warmup"]
    assert list(warmup) == ["enabled", "n_requests", "salt", "drain", "warmup_random_seed"]
    assert warmup["n_requests"] is None
    assert isinstance(summary["ttft"]["total"], int)
    assert isinstance(summary["tpot"]["total"], float)
    assert isinstance(summary["ttft"]["median"], float)

    snapshot = load(folder / "metrics/final_snapshot.json")
    assert list(snapshot) == ["counter", "timestamp_ns", "state", "n_pending_tasks", "metrics"]
    named = [(metric["type"], metric["name"]) for metric in snapshot["metrics"]]
    assert named == [("counter", name) for name in COUNTERS] + [
        ("series", name) for name in ("sample_latency_ns", "isl", "osl", "ttft_ns",
                                      "chunk_delta_ns", "tpot_ns")]

    index = load(folder / "sample_idx_map.json")
    assert list(index) == ["performance"]
    assert len(index["performance"]) == SAMPLES
    for event in lines(folder / "events.jsonl"):
        assert list(event)[:len(EVENT_KEYS)] == EVENT_KEYS


def percentile(values, p):
    return sorted(values)[math.floor(p / 100 * (len(values) - 1))]


def agrees(block, values):
    assert block["total"] == pytest.approx(sum(values))
    assert block["min"] == min(values) and block["max"] == max(values)
    for p, value in block["percentiles"].items():
        assert value == percentile(values, float(p)), p
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    assert block["std_dev"] == pytest.approx(deviation)


def test_the_summary_is_what_the_events_say(folder):
    summary = load(folder / "performance/result_summary.json")
    queries, failed, started = {}, set(), None
    for event in lines(folder / "events.jsonl"):
        kind, at, uuid = event["event_type"], event["timestamp_ns"], event["sample_uuid"]
        if kind == "session.start_performance_tracking":
            started = at
        elif kind == "sample.issued":
            queries[uuid] = {"issued": at, "received": []}
        elif kind in ("sample.recv_first", "sample.recv_non_first"):
            assert (kind == "sample.recv_first") == (not queries[uuid]["received"])
            queries[uuid]["received"].append(at)
        elif kind == "error.generic":
            failed.add(uuid)
        elif kind == "sample.complete":
            queries[uuid]["done"] = at
    whole = [query for uuid, query in queries.items() if uuid not in failed]
    assert summary["n_samples_issued"] == SAMPLES == len(queries)
    assert summary["n_samples_failed"] == len(failed) > 0
    assert summary["n_samples_completed"] == len(whole) == SAMPLES - len(failed)
    agrees(summary["ttft"], [q["received"][0] - q["issued"] for q in whole])
    agrees(summary["latency"], [q["done"] - q["issued"] for q in whole])
    agrees(summary["tpot"], [(q["done"] - q["received"][0]) / 11 for q in whole])
    agrees(summary["assay"]["arrival"]["itl"],
           [b - a for q in whole for a, b in zip(q["received"], q["received"][1:])])
    assert summary["output_sequence_lengths"]["total"] == 12 * len(whole)
    duration = max(q["done"] for q in queries.values()) - started
    assert summary["duration_ns"] == duration
    assert summary["qps"] == pytest.approx(len(whole) / duration * 1e9)
    assert summary["system_tps"] == pytest.approx(12 * len(whole) / duration * 1e9)
    assert summary["tps_per_user"] == pytest.approx(
        1e9 / summary["tpot"]["percentiles"]["90.0"])


def test_the_manifest_lists_every_file_as_it_is(folder):
    manifest = load(folder / "assay/run.json")
    assert manifest["format"] == "assay-run"
    assert manifest["end"]["state"] == "complete"
    here = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {file["path"] for file in manifest["files"]} == here - {"assay/run.json"}
    for file in manifest["files"]:
        data = (folder / file["path"]).read_bytes()
        assert len(data) == file["bytes"]
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
