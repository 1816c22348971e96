"""Goodput and fairness of classes, computed again from the recorded instants alone, by the
definitions of the glossary and of docs/guide/observed.md, and not by the program's code."""

import json

import pytest

# name: share, output tokens, limits in ns
CLASSES = {"chat": (3, 4, {"ttft": 14_000_000}),
           "doc": (2, 9, {"tpot": 1_500_000, "latency": 60_000_000}),
           "batch": (1, 20, {"latency": 30_000_000})}
GOLDEN = 0x9E3779B97F4A7C15
LOADS = {"shares": (["--rate", 150], {name: {"share": share}
                                      for name, (share, *_) in CLASSES.items()}),
         "loads": ([], {"chat": {"rate": 80}, "doc": {"concurrency": 4, "think": "50ms"},
                        "batch": {"concurrency": 3}})}


def class_of(row, shares):
    """The class of a row: multiples of the golden ratio, modulo 1, on the shares end to end."""
    at = ((row + 1) * GOLDEN % 2**64) / 2**64 * sum(shares.values())
    for name, share in shares.items():
        at -= share
        if at < 0:
            return name
    return name


def replies_of(events):
    """uuid -> its instants; a failed one has an error, and the tokens are the stream's."""
    replies = {}
    for event in map(json.loads, events.read_text().splitlines()):
        kind = event["event_type"]
        if not kind.startswith(("sample.", "error.")):
            continue
        one = replies.setdefault(event["sample_uuid"], {"tokens": 0, "failed": False})
        if kind == "sample.issued":
            one["sent"] = event["timestamp_ns"]
        elif kind == "sample.recv_first":
            one["first"] = event["timestamp_ns"]
        elif kind == "error.generic":
            one["failed"] = True
        elif kind == "sample.complete":
            one["done"] = event["timestamp_ns"]
        one["tokens"] += kind in ("sample.recv_first", "sample.recv_non_first")
    return replies


def is_good(one, limits):
    if one["failed"]:
        return False
    figures = {"ttft": one["first"] - one["sent"], "latency": one["done"] - one["sent"],
               "tpot": (one["done"] - one["first"]) / (one["tokens"] - 1)}
    return all(figures[name] <= limit for name, limit in limits.items())


@pytest.mark.parametrize("how", LOADS)
def test_goodput_and_fairness_equal_an_independent_computation(assay, endpoint, tmp_path, how):
    server = endpoint("--ttft", "normal:14ms,4ms", "--itl", "normal:1ms,0.4ms", "--osl", "max",
                      "--fault", "http500=0.1")
    load, own = LOADS[how]
    run = tmp_path / "run"
    classes = []
    for name, (_, tokens, limits) in CLASSES.items():
        slo = "&".join(f"{figure}<={limit}ns" for figure, limit in limits.items())
        classes += ["--class", ",".join([name, f"isl=20,osl={tokens},slo={slo}"] + [
            f"{key}={value}" for key, value in own[name].items()])]
    assay("run", "--endpoint", server.url, "--model", "m", *load, *classes, "--duration", "2s",
          "--report-dir", run, "--quiet", "--allow-client-limited", code=None)
    assay("report", run, "--events-jsonl", tmp_path / "events.jsonl")
    said = assay("report", run, "--json").json()["classes"]

    shares = {name: next(iter(keys.values())) for name, keys in own.items()}
    rows = json.loads((run / "sample_idx_map.json").read_text())["performance"]
    ended, good, tokens = ({name: 0 for name in CLASSES} for _ in range(3))
    for uuid, one in replies_of(tmp_path / "events.jsonl").items():
        name = class_of(rows[uuid], shares)
        ended[name] += 1
        good[name] += is_good(one, CLASSES[name][2])
        if not one["failed"]:
            # The class as the reply shows it, too.
            assert one["tokens"] == CLASSES[name][1]
            tokens[name] += one["tokens"]
    assert [one["name"] for one in said["classes"]] == list(CLASSES)
    for one in said["classes"]:
        name = one["name"]
        assert one["ended"] == ended[name] > 20 and one["good"] == good[name]
        assert 0 < good[name] < ended[name]
        assert one["output_tokens"] == tokens[name]
        assert one["attainment"] == pytest.approx(good[name] / ended[name])
        assert one["goodput_qps"] == pytest.approx(good[name] / (said["window_ns"] / 1e9))
    attained = [good[name] / ended[name] for name in CLASSES]
    assert said["fairness"] == pytest.approx(
        sum(attained)**2 / (len(attained) * sum(x * x for x in attained)))
