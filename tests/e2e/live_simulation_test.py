"""Modelled systems: live and measured by `assay run` against the simulation; curves as pages."""

import json
import pathlib
import subprocess
import sys

import pytest

from conftest import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = {
    "aggregated": "parallel: tp=1\n",
    "disaggregated": "disagg: 1P:tp=1+1D:tp=2\n",
}


# Below real time, what a busy machine adds counts less: where a quarter does not agree, slower runs
# decide. A model that differs differs at every speed.
SPEEDS = ["0.25", "0.1", "0.04"]

@pytest.mark.parametrize("layout, osl, concurrency, seed", [
    ("aggregated", "32-40", "2,8,16", "42"), ("aggregated", "32-40", "16", "11"),
    ("aggregated", "8-12", "8,16", "42"), ("disaggregated", "32-40", "2,16", "42")])
def test_live_and_simulated_agree_within_three_percent(layout, osl, concurrency, seed, tmp_path):
    scenario = tmp_path / "system.yaml"
    scenario.write_text("model: gpt-oss-120b\nhardware: b200-sxm\nprecision: mxfp4\n"
                        + SCENARIOS[layout])
    for speedup in SPEEDS:
        said = subprocess.run(
            [sys.executable, ROOT / "tools/live_against_simulated.py", scenario, "--assay",
             program(), "--concurrency", concurrency, "--queries", "6", "--isl", "uniform:400-500",
             "--osl", f"uniform:{osl}", "--seed", seed, "--speedup", speedup],
            capture_output=True, text=True, check=False)
        if said.returncode == 0:
            break
    assert said.returncode == 0, said.stdout + said.stderr
    points = len(concurrency.split(","))
    assert said.stdout.count("agree") + said.stdout.count("too slow") == points, said.stdout


def test_a_simulated_curve_is_a_page_that_says_so(tmp_path):
    page = tmp_path / "curve.html"
    said = subprocess.run(
        [program(), "simulate", "--model", "deepseek-r1", "--hardware", "h200-sxm", "--backend",
         "sglang", "--precision", "fp8", "--parallel", "tp=8,dp=1,ep=1", "--isl",
         "uniform:819-1024", "--osl", "uniform:819-1024", "--concurrency", "4,16,64", "--json",
         "--html", page], capture_output=True, text=True, check=True)
    points = json.loads(said.stdout)["points"]
    assert [p["concurrency"] for p in points] == [4, 16, 64]
    assert all(p[key] > 0 for p in points for key in (
        "ttft_ms_mean", "tpot_ms_mean", "ttft_ms_p90", "tpot_ms_p90", "system_tps", "tps_per_user"))
    text = page.read_text()
    assert "simulated curve" in text and "measured curve" not in text
    assert text.count("<svg") >= 4


def test_queries_are_asked_once_where_their_number_is_given():
    def queries(*more):
        said = subprocess.run(
            [program(), "simulate", "--model", "llama3.1-8b", "--hardware", "h100-sxm", "--isl",
             "uniform:50-60", "--osl", "uniform:10-20", "--concurrency", "3", "--json", *more],
            capture_output=True, text=True, check=True)
        return json.loads(said.stdout)["points"][0]
    assert queries("--queries", "7")["queries"] == 21
    assert queries()["queries"] >= 400
    slow = queries("--queries", "7", "--turn-around", "10s")
    assert slow["in_flight_mean"] < 0.3 and slow["queries"] == 21


def test_a_decode_batch_is_the_recipe_s_or_what_was_asked():
    apart = ["simulate", "--model", "deepseek-r1", "--hardware", "gb200", "--backend", "trtllm",
             "--precision", "fp8", "--disagg", "1P:dp=8+3D:tp=8", "--concurrency", "18"]
    def said(*more):
        return subprocess.run([program(), *apart, *more], capture_output=True, text=True,
                              check=False)
    assert "one decode rank  4 " in said().stdout
    points = json.loads(said("--decode-batch", "9", "--json").stdout)["points"]
    assert points[0]["decode_batch"] == 9
    refused = subprocess.run([program(), *apart[:7], "--decode-batch", "4"], capture_output=True,
                             text=True, check=False)
    assert refused.returncode == 2 and "needs --disagg" in refused.stderr
