"""assay curve on the real loop: planned, killed, gone on with, reported, packed and checked."""

import json
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from conftest import program

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tools"))
import kill_curve  # noqa: E402

LEVELS = "1,4"


@pytest.fixture
def server(endpoint):
    return endpoint("--ttft", "20ms", "--itl", "2ms", "--osl", 10)


def command(server, folder):
    return ["curve", "--endpoint", server.url, "--model", "m", "--concurrency", LEVELS, "--quick",
            "--prompts", 12, "--isl", 30, "--report-dir", folder, "--allow-client-limited"]


def events(folder):
    journal = folder / "journal.jsonl"
    if not journal.exists():
        return []
    lines = journal.read_text().splitlines()
    return [(e["event"], e["point"]) for e in map(json.loads, lines)]


def read_until(stream, *beginnings):
    """Reads lines until one begins with the first, then the second, and so on."""
    for beginning in beginnings:
        while not (line := stream.readline()).startswith(beginning):
            assert line, f"it ended before it said {beginning}"


def test_the_plan_is_shown_and_nothing_is_asked(assay, tmp_path):
    plan = assay("curve", "--endpoint", "http://localhost:1", "--model", "m", "--max-concurrency",
                 1024, "--prompts", 6396, "--report-dir", tmp_path / "c", "--dry-run",
                 "--json").json()
    points = plan["plan"]["points"]
    assert [p["offline"] for p in points[-2:]] == ["none", "dedicated"]
    assert points[-1]["concurrency"] == 6396 and points[-2]["concurrency"] == 1024
    assert len(points) == 11, "eight and a spare one in each region"
    assert plan["seeds"]["scheduler_rng_seed"] == 10487924139932647040
    levels = [p["concurrency"] for p in points if p["offline"] == "none"]
    assert plan["least_time_s"] >= sum(600 if level <= 32 else 1200 for level in levels)
    assert not (tmp_path / "c").exists()


def test_c_max_is_found_where_it_is_not_given(assay, tmp_path):
    args = ["curve", "--endpoint", "http://localhost:1", "--model", "m", "--prompts", 500,
            "--report-dir", tmp_path / "c", "--dry-run"]
    shown = assay(*args).out
    assert "will be found" in shown and "34 to 499" in shown
    plan = assay(*args, "--json").json()
    assert plan["plan"]["points"] == [] and plan["search"]["found"] is None
    assert (plan["search"]["least"], plan["search"]["most"]) == (34, 499)
    assert not (tmp_path / "c").exists()


def audit(assay, url, folder, code):
    return assay("curve", "--audit-only", "--endpoint", url, "--model", "m", "--concurrency",
                 LEVELS, "--prompts", 24, "--isl", 20, "--report-dir", folder, "--json",
                 "--allow-client-limited", code=code).json()


def test_a_cache_is_caught_with_its_numbers(assay, endpoint, tmp_path):
    # Computing takes 150 ms, a hit nothing: the reference takes 0.9 s at least, the hits 0.15 s.
    server = endpoint("--ttft", "150ms", "--osl", 4, "--quirk", "cached-replies")
    folder = tmp_path / "c"
    verdict = audit(assay, server.url, folder, code=1)
    assert verdict["test"] == "output_caching_test" and not verdict["passed"]
    assert verdict["audit_qps"] > 1.1 * verdict["ref_qps"]
    assert verdict["ref_completed"] == verdict["audit_completed"] == 24
    below = folder / "audit"
    assert json.loads((below / "audit_output_caching_test.json").read_text()) == verdict
    assert "check pass: False" in (below / "verify_OUTPUT_CACHING_TEST.txt").read_text()
    order = kill_curve.order_of(below / "output_caching")
    assert order == [0] * 24
    assert len(set(kill_curve.order_of(below / "reference"))) == 24
    # Asked again nothing is measured again.
    assert audit(assay, server.url, folder, code=1) == verdict
    # When it begins a curve asks what the endpoint is.
    facts = json.loads((folder / "endpoint.json").read_text())
    assert facts["framework"] == "Assay" and facts["status"]["/metrics"] == 200
    assert facts["models"][0]["id"] == "assay"
    assert "vllm:" in (folder / "endpoint_metrics.txt").read_text()


def audited_run(tmp_path, server, extra=""):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"prompt": f"row {i}"}) + "\n" for i in range(12)))
    config = tmp_path / "config.yaml"
    config.write_text(
        f"model_params: {{name: m, streaming: 'on'}}\ndatasets: [{{path: {rows}}}]\n"
        "settings:\n  load_pattern: {type: concurrency, target_concurrency: 2}\n"
        "  runtime: {n_samples_to_issue: 12}\n"
        f"endpoint_config: {{endpoints: ['{server.url}']}}\n"
        f"audit: {{test: output_caching_test, samples: 12, sample_index: 5{extra}}}\n")
    return config


def test_a_runs_config_asks_for_the_audit(assay, endpoint, tmp_path):
    # Computing takes 100 ms, a hit nothing.
    server = endpoint("--ttft", "100ms", "--osl", 4, "--quirk", "cached-replies")
    config = audited_run(tmp_path, server, ", only: true")
    alone = tmp_path / "alone"
    verdict = assay("run", "--config", config, "--report-dir", alone, "--json",
                    "--allow-client-limited", code=1).json()
    assert [cause["code"] for cause in verdict.pop("exit")["causes"]] == [1]
    below = alone / "audit"
    assert json.loads((below / "audit_output_caching_test.json").read_text()) == verdict
    assert not verdict["passed"] and verdict["sample_index"] == 5
    assert not (alone / "performance").exists()
    assert kill_curve.order_of(below / "output_caching") == [5] * 12
    assert len(set(kill_curve.order_of(below / "reference"))) == 12

    # After a run, at an endpoint that computes every reply: one row takes as long as twelve.
    config = audited_run(tmp_path, endpoint("--ttft", "100ms", "--osl", 4), ", threshold: 0.9")
    both = tmp_path / "both"
    ran = assay("run", "--config", config, "--report-dir", both, "--json",
                "--allow-client-limited")
    assert "may have warmed a cache" in ran.err
    summary = ran.json()
    assert summary["n_samples_completed"] == 12
    assert summary["output_caching_audit"]["ref_completed"] == 12
    assay("verify", both)
    assay("verify", both / "audit/reference")
    assay("run", "--config", config, "--report-dir", both, code=2)


def test_single_runs_are_packed_with_their_power(assay, server, tmp_path):
    runs = [tmp_path / "a", tmp_path / "b"]
    for run, level in zip(runs, (1, 4)):
        assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", level, "--prompts",
              8, "--samples", 8, "--report-dir", run, "--allow-client-limited", "--quiet")
    power = tmp_path / "power.json"
    watts = {"value_w": 350, "source_type": "vendor_spec", "source": "https://example.org/cpu"}
    power.write_text(json.dumps({
        "cooling": "air", "scale_out": {"present": False},
        "node_sets": [{"node_set_id": 0, "system_node_ensemble_id": 0, "nodes_provisioned": 1,
                       "power_method": "component_sum", "components": {
                           "cpu": {"model": "Example", "count_per_node": 2,
                                   "tdp_per_unit": watts},
                           "accelerator": {"model": "Example", "count_per_node": 8,
                                           "tdp_per_unit": {**watts, "value_w": 1000}},
                           "scale_up_network": {"method": "none"}}}]}))
    answers = tmp_path / "answers.yaml"
    answers.write_text("system: {division: RDI, system_name: Box, node_types: [{cooling: air}]}\n"
                       "point: {model_name: gpt-oss-120b}\n")
    tree = tmp_path / "tree"
    assay("pack", *runs, "--out", tree, "--max-concurrency", 64, "--power", power, "--answers",
          answers)
    written = json.loads((tree / "results/Box/system_power.json").read_text())
    assert written["provisioned_power_kw"] == 13.05 and written["system_desc_id"] == "Box"
    assert written["computed"]["total_system_power_w"] == 13050
    summary = json.loads(
        (tree / "results/Box/gpt-oss-120b/r4/result_summary.json").read_text())
    assert summary["system_tps_per_kw"] == pytest.approx(summary["system_tps"] / 13.05)
    found = assay("check", tree, "--json", code=1).json()["results"]
    assert not [one for one in found if "power" in one["rule"] or "per-kw" in one["rule"]
                if one["severity"] == "error"]


def test_the_reference_clients_power_block_comes_into_the_tree(assay, server, tmp_path):
    meter = """while sleep 0.05; do echo '{"value": 500, "label": "wall"}'; done"""
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({
        "model_params": {"name": "gpt-oss-120b"}, "endpoint_config": {"endpoints": [server.url]},
        "datasets": [{"name": "prompts", "type": "performance", "synthetic": {"count": 8}}],
        "settings": {"load_pattern": {"type": "concurrency", "target_concurrency": 4},
                     "runtime": {"n_samples_to_issue": 40},
                     "power": {"source": "command", "interval_s": 0.05,
                               "options": {"argv": ["/bin/sh", "-c", meter]}}}}))
    run, tree = tmp_path / "run", tmp_path / "tree"
    assay("run", "--config", config, "--report-dir", run, "--allow-client-limited", "--quiet")
    power = json.loads((run / "power.json").read_text())
    assert power["status"] == "ok" and power["window"]["basis"] == "performance_phase"
    assert power["totals"]["mean_power_w"] == pytest.approx(500)
    answers = tmp_path / "answers.yaml"
    answers.write_text("system: {division: RDI, system_name: Box}\n"
                       "point: {model_name: gpt-oss-120b}\n")
    assay("pack", run, "--out", tree, "--max-concurrency", 64, "--answers", answers)
    [packed] = tree.glob("results/Box/gpt-oss-120b/*/power.json")
    assert packed.read_text() == (run / "power.json").read_text()

    def said():
        found = assay("check", tree, "--json", code=1).json()["results"]
        return [one for one in found if one["rule"] == "plausible-power"
                and one["severity"] in ("warning", "error")]

    assert not said()
    # A figure that does not follow from the others is told with its place.
    power["totals"]["mean_power_w"] *= 2
    packed.write_text(json.dumps(power))
    [one] = said()
    assert "power.json" in json.dumps(one) and "energy_j" in json.dumps(one)
    packed.write_text("{")
    assert len(said()) == 1


def test_killed_at_any_instant_it_ends_the_same(tmp_path):
    # Ten instants of a larger curve: tools/kill_curve.py.
    assert kill_curve.run(program(), 3, 20261122, tmp_path, levels="2") == 0


def test_killed_and_gone_on_with(assay, server, tmp_path):
    folder = tmp_path / "curve"
    args = [str(a) for a in command(server, folder)]
    child = subprocess.Popen([program(), *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
    # The first point is done and the second one is being measured.
    read_until(child.stderr, "r1 ", "performance")
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stderr.close()
    assert events(folder) == [("began", "r1"), ("finished", "r1"), ("began", "r4")]
    first = (folder / "points/r1/assay/run.json").read_bytes()

    # Another program's settings are not taken for this curve's.
    other = assay(*command(server, folder), "--isl", 31, code=2)
    assert "--resume" in other.err

    summary = assay("curve", "--resume", folder, "--quiet", "--json",
                    "--allow-client-limited").json()
    assert events(folder)[3:] == [("began", "r4"), ("finished", "r4")]
    assert (folder / "points/r1/assay/run.json").read_bytes() == first
    assert (folder / "attempts/r4-1/assay/events-0.alog").exists()
    assert summary["complete"]
    for point in summary["points"]:
        assert point["measured"] and point["total"]["failed"] == 0
        assert point["total"]["completed"] % 12 == 0, "whole passes"
        run = folder / "points" / point["name"]
        assay("verify", run)
    # Asked for once more there is nothing left to do.
    assay(*command(server, folder), "--quiet", "--json")
    assert len(events(folder)) == 5

    # The same curve without a kill is the same but for its timing. tools/kill_curve.py kills it at
    # ten instants that nobody chose.
    whole = tmp_path / "whole"
    assay(*command(server, whole), "--quiet", "--json")
    assert kill_curve.differences(whole, folder) == []

    page = tmp_path / "curve.html"
    assay("report", folder, "--html", page, "--price", 3)
    text = page.read_text()
    assert "<svg" in text and "http-equiv=\"Content-Security-Policy\"" in text
    assert not re.search(r"(src|href)=\"http", text)
    assert "| r4 |" in assay("report", folder, "--markdown").out
    told = assay("report", folder, "--power", 700, "--price", 3, "--slo", "ttft_p90<=60s",
                 "--json").json()
    # The sweep ended at 4, so that it is a lower bound, and the answer says so.
    slo = told["slo"]
    assert (slo["limits"], slo["users"], slo["point"]) == ("ttft_p90<=60s", 4, "r4")
    assert slo["at_least"] is True and slo["broken_at"] is None
    assert slo["answer"].startswith("at least 4 users at once")
    for point in told["points"]:
        tps = point["official"]["system_tps"]
        assert point["joules_per_token"] == pytest.approx(700 / tps)
        assert point["dollars_per_million_tokens"] == pytest.approx(3 / 3600 / tps * 1e6)
    assert "4 users at once" in assay("report", folder, "--slo", "ttft_p90<=60s").out
    assay("report", folder, "--slo", "itl_p90<=1s", code=2)

    # The same answer where two systems are asked, with what the user says of them and no more.
    two = [f"{folder},name=A,accelerators=4", f"{folder},name=B"]
    text = assay("decide", *two, "--slo", "ttft_p90<=60s").out
    assert "which serves the most users is not known: A at least 4 users" in text
    assert slo["answer"] in " ".join(text.split()) and "$" not in text
    prices = tmp_path / "prices.yaml"
    prices.write_text("- {accelerator: x, usd_per_hour: 2, as_of: 2026-11-01, source: quote 7}\n")
    told = assay("decide", f"{two[0]},accelerator=x", "--slo", "ttft_p90<=60s", "--users", 10,
                 "--prices", prices, "--json").json()["systems"][0]
    assert told["served"] == slo
    assert told["cost"]["systems"] == 3 and told["cost"]["usd_per_hour"] == pytest.approx(24)
    assert "2026-11-01, quote 7" in str(told["cost"]["inputs"])
    assay("decide", folder, "--slo", "ttft_p90<=1us", code=1)
    assert "assay decide" in assay("compare", folder, folder, code=2).err
    assay("report", folder, "--power", -1, code=2)

    tree = tmp_path / "tree"
    answers = tmp_path / "answers.yaml"
    answers.write_text("system: {division: RDI, system_name: Box}\n"
                       "point: {model_name: gpt-oss-120b}\n")
    assay("pack", folder, "--out", tree, "--answers", answers)
    point = (tree / "results/Box/gpt-oss-120b/r4/point.yaml").read_text()
    assert "concurrency: 4\n" in point and "seed_set: A" in point
    assert (tree / "docs/warmup/r4.jsonl").read_text().count("\n") == 8
    system = json.loads((tree / "results/Box/gpt-oss-120b/r4/system_desc.json").read_text())
    assert system["serving_framework"].startswith("Assay ")
    assert system["endpoint_capture"]["models"][0]["id"] == "assay"
    report = assay("check", tree, "--json", code=1).json()
    assert report, "the checker reads what was packed"
    assay("pack", folder, "--out", tree, code=2)
