"""`--dry-run --from`: time, tokens and cost of a plan, by levels that are known."""

import json

import pytest

URL = ["--endpoint", "http://127.0.0.1:9", "--model", "m"]


def level(concurrency, qps, low=1.0, high=1.0):
    return {"concurrency": concurrency, "in_flight_mean": concurrency, "qps": qps,
            "system_tps": 100 * qps, "isl_mean": 1000, "osl_mean": 100,
            "interval": {"system_tps": [100 * qps * low, 100 * qps * high]}}


@pytest.fixture
def known(tmp_path):
    def write(*points):
        path = tmp_path / "known.json"
        path.write_text(json.dumps({"kind": "simulated", "points": points}))
        return path
    return write


def near(value):
    return pytest.approx(value, rel=1e-9)


def test_a_runs_time_tokens_and_cost_follow_from_what_is_known(assay, known):
    asked = ["run", *URL, "--concurrency", 16, "--samples", 3600, "--dry-run", "--from",
             known(level(4, 5, 0.8, 1.25), level(16, 10, 0.8, 1.25)), "--price-in", 2,
             "--price-out", 10, "--cards", 8, "--card-hour", 2.5]
    said = assay(*asked, "--json").json()
    found = said["forecast"]
    assert found["queries"] == {"low": 3600, "likely": 3600, "high": 3600}
    assert found["seconds"] == {"low": near(288), "likely": near(360), "high": near(450)}
    assert found["prompt_tokens"]["likely"] == near(3.6e6)
    assert found["output_tokens"]["high"] == near(3.6e5)
    assert found["cost"]["tokens"]["likely"] == near(3.6 * 2 + 0.36 * 10)
    assert found["cost"]["card_hours"]["likely"] == near(0.8)
    assert found["cost"]["cards"] == {"low": near(1.6), "likely": near(2), "high": near(2.5)}
    text = assay(*asked).out
    assert said["plan_digest"] in text
    assert "6:00 (4:48–7:30)" in text and "3,600,000" in text and "10.8" in text


def test_a_curves_points_are_added_up(assay, known, tmp_path):
    asked = ["curve", *URL, "--concurrency", "2,8", "--quick", "--offline", "none", "--prompts",
             40, "--isl", 50, "--osl", 5, "--dry-run", "--report-dir", tmp_path / "c"]
    plain = assay(*asked, "--json").json()
    assert "forecast" not in plain
    found = assay(*asked, "--json", "--from", known(level(2, 10), level(8, 20))).json()["forecast"]
    seconds = {phase["name"]: phase["seconds"]["likely"] for phase in found["phases"]}
    assert set(seconds) == {"r2 warmup", "r2 performance", "r8 warmup", "r8 performance"}
    assert found["seconds"]["likely"] == near(sum(seconds.values()))
    # Whole passes over 40 rows, at 20 a second.
    asked_of = {phase["name"]: phase["queries"]["likely"] for phase in found["phases"]}
    assert asked_of["r8 performance"] >= 200 and asked_of["r8 performance"] % 40 == 0
    assert seconds["r8 performance"] == near(asked_of["r8 performance"] / 20)
    assert not (tmp_path / "c").exists()
    unknown = assay("curve", *URL, "--quick", "--dry-run", "--from", known(level(2, 10)), code=2)
    assert "--max-concurrency" in unknown.err


def test_a_measured_run_and_a_measured_curve_are_known_levels(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--osl", 4)
    load = ["--endpoint", server.url, "--model", "m", "--isl", 20, "--osl", 4,
            "--allow-client-limited", "--quiet"]
    run = tmp_path / "run"
    assay("run", *load, "--concurrency", 4, "--samples", 80, "--report-dir", run)
    summary = json.loads((run / "performance/result_summary.json").read_text())
    asked = ["run", *URL, "--concurrency", 4, "--samples", 1000, "--dry-run", "--json", "--from"]
    found = assay(*asked, run).json()["forecast"]
    assert found["seconds"]["likely"] == near(1000 / summary["qps"])
    assert found["seconds"]["low"] < found["seconds"]["likely"] < found["seconds"]["high"]
    assert found["output_tokens"]["likely"] == near(4000)
    curve = tmp_path / "curve"
    assay("curve", *load, "--concurrency", "2,4", "--quick", "--offline", "none", "--prompts", 4,
          "--report-dir", curve)
    assert assay(*asked, curve).json()["forecast"]["queries"]["likely"] == 1000


def test_what_cannot_be_known_is_refused(assay, known, tmp_path):
    run = ["run", *URL, "--concurrency", 4, "--samples", 10]
    (tmp_path / "no.json").write_text('{"kind": "other"}')
    (tmp_path / "broken.json").write_text("{")
    for more, words in [
            (["--from", known(level(2, 10))], "--dry-run"),
            (["--dry-run", "--cards", 2], "--from"),
            (["--dry-run", "--from", known(level(2, 10)), "--card-hour", 2], "--cards"),
            (["--dry-run", "--from", known(level(2, 10)), "--cards", 0], "above 0"),
            (["--dry-run", "--from", tmp_path], "no run and no curve"),
            (["--dry-run", "--from", tmp_path / "no.json"], "assay simulate"),
            (["--dry-run", "--from", tmp_path / "broken.json"], "broken.json"),
            (["--dry-run", "--from", known(level(2, 0))], "no query was answered")]:
        assert words in assay(*run, *more, code=2).err
    assay(*run, "--dry-run", "--from", tmp_path / "absent.json", code=2)
