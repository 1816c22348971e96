"""assay twin is asked what its curve's runs were asked, keeps that, and says how far off it is."""

import json

SYSTEM = ("--model", "llama3.1-8b", "--hardware", "h100-sxm")


def curve_of(assay, folder, slower, lengths=True):
    """A curve's folder whose runs are simulated ones, so many times slower, with short lengths."""
    said = assay("simulate", *SYSTEM, "--isl", 27, "--osl", "uniform:24-40", "--concurrency",
                 "1,2,4,8,16,32", "--json").json()
    points = []
    for p in said["points"]:
        name = f"r{p['concurrency']}"
        points.append({"name": name, "concurrency": p["concurrency"], "measured": True,
                       "offline": "none", "tpot_ms_mean": p["tpot_ms_mean"] * slower,
                       "ttft_ms_mean": p["ttft_ms_mean"] * slower})
        if not lengths:
            continue
        run = folder / "points" / name / "performance"
        run.mkdir(parents=True)
        run.joinpath("result_summary.json").write_text(json.dumps({
            "n_samples_completed": p["queries"],
            "input_sequence_lengths": {"avg": 27, "histogram": {
                "buckets": [[27, 27]], "counts": [40]}},
            "output_sequence_lengths": {"avg": 32, "histogram": {
                "buckets": [[24, 32], [32, 40]], "counts": [8, 9]}}}))
    folder.mkdir(exist_ok=True)
    folder.joinpath("curve_summary.json").write_text(json.dumps({"points": points}))
    return folder


def test_it_is_asked_what_the_runs_were_asked(assay, tmp_path):
    curve = curve_of(assay, tmp_path / "curve", 1.2)
    twin = tmp_path / "twin.yaml"
    fit = assay("twin", curve, *SYSTEM, "--out", twin, "--json").json()
    assert fit["isl_mean"] == 27 and abs(fit["osl_mean"] - 32) < 0.5
    assert fit["tpot_error_after"] < 0.05 and fit["ttft_error_after"] < 0.2 and fit["good"]
    assert "27 tokens in" in twin.read_text() and "largest error" in twin.read_text()
    # What it is asked later is the same, whatever the system; and it says what it rests on.
    for gpus, level in ((1, "compared"), (2, "compared")):
        point = assay("simulate", "--catalogue", twin, *SYSTEM, "--gpus", gpus, "--parallel",
                      "tp=1", "--concurrency", 8, "--json").json()["points"][0]
        assert abs(point["isl_mean"] - 27) < 1e-9 and abs(point["osl_mean"] - 32) < 1
        assert point["trust"]["level"] == level and "6 measured" in point["trust"]["says"]


def test_a_measured_curve_says_its_lengths(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", 8)
    assay("curve", "--endpoint", server.url, "--model", "m", "--concurrency", "1,2", "--quick",
          "--prompts", 8, "--isl", 40, "--report-dir", tmp_path / "curve", "--quiet", "--json",
          "--allow-client-limited")
    fit = assay("twin", tmp_path / "curve", *SYSTEM, "--out", tmp_path / "t.yaml", "--json",
                code=None).json()
    runs = [json.loads(one.read_text()) for one in
            (tmp_path / "curve/points").glob("*/performance/result_summary.json")]
    assert len(runs) == 2 and fit["osl_mean"] == 8
    asked = sum(one["input_sequence_lengths"]["avg"] for one in runs) / 2
    assert abs(fit["isl_mean"] / asked - 1) < 0.05  # by the histogram's classes


def test_without_lengths_it_asks_for_them(assay, tmp_path):
    curve = curve_of(assay, tmp_path / "curve", 1.2, lengths=False)
    refused = assay("twin", curve, *SYSTEM, "--out", tmp_path / "t.yaml", code=2)
    assert "--isl, --osl: are required" in refused.err
    assert not (tmp_path / "t.yaml").exists()
    assay("twin", curve, *SYSTEM, "--out", tmp_path / "t.yaml", "--isl", 27, "--osl",
          "uniform:24-40")


def test_a_twin_of_another_system_does_not_end_well(assay, tmp_path):
    curve = curve_of(assay, tmp_path / "curve", 1)
    summary = json.loads((curve / "curve_summary.json").read_text())
    for i, point in enumerate(summary["points"]):
        point["ttft_ms_mean"] *= 30 if i % 2 else 0.01
    (curve / "curve_summary.json").write_text(json.dumps(summary))
    done = assay("twin", curve, *SYSTEM, "--out", tmp_path / "t.yaml", code=1)
    assert "warning: the median error" in done.err


def test_what_if_answers_over_the_measured_curve(assay, tmp_path):
    curve = curve_of(assay, tmp_path / "curve", 1.2)
    page = tmp_path / "what_if.html"
    said = assay("twin", curve, *SYSTEM, "--out", tmp_path / "t.yaml", "--what-if", "cards=2",
                 "--what-if", "precision=bf16", "--html", page, "--json").json()
    more, slower = said["what_if"]
    assert (more["changes"], more["gpus"]) == ("cards=2", 2) and slower["gpus"] == 1
    assert said["held_out"]["tpot_error"] < 0.05
    # A second card is a second worker: two of them at 32 are one at 16, twice.
    at = {point["concurrency"]: point for point in more["points"]}
    assert abs(at[32]["tpot_ms_mean"]["value"] / at[16]["measured"]["tpot_ms_mean"] - 1) < 0.05
    for point in slower["points"]:
        tpot = point["tpot_ms_mean"]
        assert tpot["low"] < tpot["value"] < tpot["high"]
        assert tpot["value"] > 1.2 * point["measured"]["tpot_ms_mean"]
    assert page.read_text().count("<svg") == 2 and "precision=bf16" in page.read_text()
    err = assay("twin", curve, *SYSTEM, "--out", tmp_path / "t.yaml", "--what-if", "cards=none",
                code=2).err
    assert "--what-if: cards: 'none' is not a whole number from 1 to" in err


def test_names_are_listed_and_an_unknown_one_is_told_the_nearest(assay):
    assert "h200-sxm" in assay("simulate", "--list", "hardware").out
    assert "deepseek-r1" in assay("simulate", "--list", "models").out
    assert "tensorrt-llm" in assay("simulate", "--list", "backends").out
    assay("simulate", "--list", "cards", code=2)
    plan = ("--rate", 1, "--plan", "ttft_p99=2s")
    err = assay("simulate", "--model", "llama3.1-8b", "--hardware", "h100-smx", *plan, code=2).err
    assert "unknown hardware 'h100-smx'; did you mean 'h100-sxm'?" in err
