"""`assay simulate`: layouts that are searched, a suite's scenarios, software generations, shared
prefixes."""

import json
import math

import pytest

NODE = ["--model", "deepseek-r1", "--hardware", "h200-sxm", "--backend", "sglang", "--precision",
        "fp8", "--gpus", 8, "--isl", 1024, "--osl", 256]
RACK = ["--workload", "llama3.1-405b", "--hardware", "gb300", "--gpus", 8, "--backend", "trtllm",
        "--precision", "nvfp4"]


def said(assay, *args, code=0):
    return json.loads(assay("simulate", *args, "--json", code=code).out)


def test_without_a_layout_the_best_that_fits_is_taken_and_named(assay):
    found = said(assay, *NODE, "--concurrency", "4,256")
    tried = found["layouts"]["best"]
    assert found["layouts"]["fit"] >= len(tried) >= 3
    served = [one["point"]["system_tps"] for one in tried]
    assert served == sorted(served, reverse=True)
    assert all(one["point"]["concurrency"] == 256 for one in tried)
    own = said(assay, *NODE, "--concurrency", "4,256", "--parallel",
               tried[0]["layout"].split(", MTP")[0])
    assert own["points"] == found["points"]
    assert "layouts" not in own
    text = assay("simulate", *NODE, "--concurrency", 256).out
    assert "layouts that fit" in text and tried[1]["layout"] in text


def test_a_sweep_ends_behind_its_peak(assay):
    for gpus in (1, 4):
        points = said(assay, "--model", "llama3.1-8b", "--hardware", "h100-sxm", "--gpus", gpus,
                      "--isl", 256, "--osl", 128, "--parallel", "tp=1")["points"]
        served = [point["system_tps"] for point in points]
        assert served.index(max(served)) >= len(served) - 4
        assert served[-1] < 1.07 * served[-3]


@pytest.mark.parametrize("scenario,limits", [("server", (6000, 175)), ("interactive", (4500, 80))])
def test_a_suites_scenario_keeps_its_limits_at_p99(assay, scenario, limits):
    found = said(assay, *RACK, "--scenario", scenario)
    assert found["limits"] == f"ttft_p99={limits[0]}ms,tpot_p99={limits[1]}ms"
    best = found["layouts"]["best"][0]["point"]
    assert best["ttft_ms_p99"] <= limits[0] and best["tpot_ms_p99"] <= limits[1]
    offline = said(assay, *RACK)["layouts"]["best"][0]["point"]
    assert offline["system_tps"] > best["system_tps"]
    assert abs(offline["osl_mean"] / 685 - 1) < 0.05


def test_a_model_of_stages_has_its_scenarios_too(assay):
    base = ["--workload", "dlrm-v3", "--hardware", "h100-sxm", "--gpus", 8]
    server = said(assay, *base, "--scenario", "server")["layouts"]["best"][0]["point"]
    offline = said(assay, *base)["layouts"]["best"][0]["point"]
    assert server["latency_ms_p99"] <= 80 and 0 < server["qps"] <= 1.02 * offline["qps"]


def test_levers_between_software_generations_multiply_to_the_whole(assay):
    found = said(assay, *RACK, "--explain", "v5.1..v6.0")
    gains = [lever["gain"] for lever in found["levers"][1:]]
    assert found["gain"] == pytest.approx(math.prod(gains))
    assert found["gain"] > 1.05
    older = said(assay, *RACK, "--software", "v5.1")["layouts"]["best"][0]["point"]
    assert older["tps_per_gpu"] == pytest.approx(found["levers"][0]["tps_per_gpu"])


def test_mistakes_are_named(assay):
    err = assay("simulate", *RACK, "--scenario", "serverr", code=2).err
    assert "offline, server, interactive" in err
    assert "v6.0" in assay("simulate", *RACK, "--software", "v6", code=2).err
    assert "--workload" in assay("simulate", *NODE, "--explain", "v5.1..v6.0", code=2).err
    assert "--isl" in assay("simulate", "--workload", "qwen3-vl-235b-a22b", "--hardware",
                            "b200-sxm", code=2).err
    assert "--shared-prefix" in assay("simulate", *NODE, "--shared-prefix", "tree", code=2).err


def test_shared_prefixes_let_the_router_matter(assay):
    base = ["--model", "llama3.1-8b", "--hardware", "h100-sxm", "--gpus", 8, "--parallel", "tp=1",
            "--isl", 2000, "--osl", 64, "--shared-prefix", "1600x60", "--concurrency", 32]
    hits = {router: said(assay, *base, "--router", router)["points"][0]["prefix_hit_rate"]
            for router in ("round_robin", "kv_aware")}
    assert hits["kv_aware"] > hits["round_robin"] + 0.05
    plain = said(assay, *base[:-4], "--concurrency", 32)["points"][0]
    assert plain["prefix_hit_rate"] == 0
