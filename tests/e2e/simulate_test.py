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


def test_every_workloads_lengths_are_simulated_as_they_stand(assay):
    found = said(assay, "--workload", "llama3.1-8b", "--hardware", "b200-sxm", "--gpus", 1)
    assert "128 out" in found["lengths"]
    assert found["layouts"]["best"][0]["point"]["osl_mean"] == 128


def test_a_server_keeps_up_with_the_rate_that_is_said(assay):
    found = said(assay, "--workload", "llama2-70b", "--scenario", "server", "--hardware",
                 "h100-sxm", "--gpus", 8, "--precision", "fp8", "--backend", "tensorrt-llm")
    for one in found["layouts"]["best"]:
        point = one["point"]
        assert point["qps"] == pytest.approx(point["rate"], rel=0.04)
        assert point["system_tps"] == pytest.approx(point["rate"] * point["osl_mean"], rel=0.04)
        assert point["tpot_ms_p99"] <= 200 and point["ttft_ms_p99"] <= 2000


def test_a_model_of_stages_has_its_scenarios_too(assay):
    base = ["--workload", "dlrm-v3", "--hardware", "h100-sxm", "--gpus", 8]
    server = said(assay, *base, "--scenario", "server")["layouts"]["best"][0]["point"]
    offline = said(assay, *base)["layouts"]["best"][0]["point"]
    assert server["latency_ms_p99"] <= 80 and 0 < server["qps"] <= 1.02 * offline["qps"]


def test_what_a_suite_draws_from_the_whole_vocabulary_takes_its_time(assay):
    asked = ["--workload", "gpt-oss-120b", "--hardware", "gb300", "--gpus", 1, "--backend",
             "tensorrt-llm", "--precision", "mxfp4"]
    drawn = said(assay, *asked)
    assert drawn["drawn_from"] == 201_088
    assert "from all 201,088 of the vocabulary" in assay("simulate", *asked).out
    # No generation of stacks says what it takes in an edition of another suite.
    likeliest = said(assay, *asked, "--edition", "endpoints-v1.0")
    assert "drawn_from" not in likeliest
    # 0.2 ns an entry, 40 us a token beside some 25 of all else.
    ratio = (drawn["layouts"]["best"][0]["point"]["system_tps"]
             / likeliest["layouts"]["best"][0]["point"]["system_tps"])
    assert 0.3 < ratio < 0.6
    greedy = said(assay, "--workload", "llama3.1-8b", "--hardware", "b200-sxm", "--gpus", 1)
    assert "drawn_from" not in greedy


def test_levers_between_software_generations_multiply_to_the_whole(assay):
    found = said(assay, *RACK, "--explain", "v5.1..v6.0")
    gains = [lever["gain"] for lever in found["levers"][1:]]
    assert found["gain"] == pytest.approx(math.prod(gains))
    assert found["gain"] > 1.05
    older = said(assay, *RACK, "--software", "v5.1")["layouts"]["best"][0]["point"]
    assert older["tps_per_gpu"] == pytest.approx(found["levers"][0]["tps_per_gpu"])


def test_cards_of_v4_1_stand_beside_each_other_as_buyers_were_told(assay):
    cards = ["h100-sxm", "h100-pcie", "mi300x", "a100-sxm", "l40s"]
    found = assay("simulate", "--model", "llama2-70b", "--software", "v4.1", "--hardware",
                  ",".join(cards), "--gpus", 8, "--isl", "lognormal:200,0.8", "--osl",
                  "lognormal:220,0.75", "--concurrency", 1024, "--json").json()
    each = {one["hardware"]: one["points"][0] for one in found["systems"]}
    base = each["h100-sxm"]["tps_per_gpu"]
    assert 0.75 < each["h100-pcie"]["tps_per_gpu"] / base < 0.85
    assert 1.08 <= each["mi300x"]["tps_per_gpu"] / base <= 1.15
    assert each["l40s"]["tps_per_gpu"] < each["a100-sxm"]["tps_per_gpu"] < base / 2


def test_mistakes_are_named(assay):
    err = assay("simulate", *RACK, "--scenario", "serverr", code=2).err
    assert "offline, server, interactive" in err
    assert "v6.0" in assay("simulate", *RACK, "--software", "v6", code=2).err
    assert "--workload" in assay("simulate", *NODE, "--explain", "v5.1..v6.0", code=2).err
    assert "--isl" in assay("simulate", "--workload", "qwen3-vl-235b-a22b", "--hardware",
                            "b200-sxm", code=2).err
    for flag in (["--rate", 5], ["--concurrency", 4], ["--html", "x.html"], ["--price", 3]):
        assert flag[0] in assay("simulate", *RACK, *flag, code=2).err
    assert "one card" in assay("simulate", "--workload", "llama2-70b", "--hardware",
                               "h100-sxm,mi300x", code=2).err
    assert "--shared-prefix" in assay("simulate", *NODE, "--shared-prefix", "tree", code=2).err


def test_shared_prefixes_let_the_router_matter(assay):
    base = ["--model", "llama3.1-8b", "--hardware", "h100-sxm", "--gpus", 8, "--parallel", "tp=1",
            "--isl", 2000, "--osl", 64, "--shared-prefix", "1600x60", "--concurrency", 32]
    hits = {router: said(assay, *base, "--router", router)["points"][0]["prefix_hit_rate"]
            for router in ("round_robin", "kv_aware")}
    assert hits["kv_aware"] > hits["round_robin"] + 0.05
    plain = said(assay, *base[:-4], "--concurrency", 32)["points"][0]
    assert plain["prefix_hit_rate"] == 0


CARD = ["--model", "llama3.1-8b", "--hardware", "h100-sxm", "--parallel", "tp=1"]


def load_file(tmp_path, name, settings, datasets="", api="openai_completions", streaming="on"):
    path = tmp_path / f"{name}.yaml"
    path.write_text(f"""
model_params: {{name: m, streaming: '{streaming}', max_new_tokens: 40}}
{f'datasets: [{datasets}]' if datasets else ''}
settings: {settings}
endpoint_config: {{endpoints: ['http://nobody.invalid'], api_type: {api}}}
""")
    return path


def test_the_load_of_a_config_is_that_of_the_same_levels(assay, tmp_path):
    load = load_file(tmp_path, "plain", "{load_pattern: {type: concurrency, target_concurrency: 8},"
                     " runtime: {n_samples_to_issue: 96}}", "{synthetic: {isl: 512, count: 96}}")
    found = said(assay, *CARD, "--load", load)
    assert found["kind"] == "simulated" and "h100" in found["system"]
    assert found["n_samples_completed"] == 96 and found["n_samples_failed"] == 0
    level, = said(assay, *CARD, "--isl", 512, "--osl", 40, "--concurrency", 8, "--queries", 12,
                  "--turn-around", 0)["points"]
    # There each query leaves 20 us after the other, so that an idle server begins with one.
    assert found["latency"]["avg"] / 1e6 == pytest.approx(level["latency_ms_mean"], rel=0.02)
    assert found["tpot"]["avg"] / 1e6 == pytest.approx(level["tpot_ms_mean"], rel=0.04)
    assert found["input_sequence_lengths"]["total"] == 96 * 512
    assert said(assay, *CARD, "--load", load)["ttft"] == found["ttft"]


def test_turns_of_a_conversation_find_their_beginning_in_the_cache(assay, tmp_path):
    rows = []
    for k in range(12):
        for t in range(5):
            rows.append({"conversation_id": f"c{k}", "turn": 2 * t + 1, "role": "user",
                         "content": f"{k}.{t} " + "word " * 1500})
            if t < 4:
                rows.append({"conversation_id": f"c{k}", "turn": 2 * t + 2, "role": "assistant",
                             "content": "said " * 20})
    data = tmp_path / "turns.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    load = load_file(tmp_path, "turns",
                     "{load_pattern: {type: agentic_inference, target_concurrency: 5}}",
                     f"{{path: {data}, agentic_inference: {{num_trajectories_to_issue: 12}}}}",
                     api="openai")

    def asked(*flags):
        return said(assay, "--model", "llama3.1-8b", "--hardware", "h100-sxm", "--gpus", 4,
                    "--parallel", "tp=1", "--load", load, *flags)

    together = asked("--router", "kv_aware")
    apart = asked("--router", "round_robin")
    never = asked("--no-prefix-cache")
    cached = [run["assay"]["tokens"]["cached"] for run in (together, apart, never)]
    assert cached[0] > 1.15 * cached[1] > 0, "the router keeps turns together"
    assert cached[2] == 0 and never["ttft"]["avg"] > 1.4 * together["ttft"]["avg"]
    # A slot that is short of work ends the measured part, as in a run.
    assert all(run["n_samples_completed"] > 48 for run in (together, apart, never))
    assert together["trajectories"]["begun"] == 12


def test_a_trace_keeps_its_own_clock_and_classes_their_names(assay, tmp_path):
    data = tmp_path / "trace.jsonl"
    data.write_text("".join(json.dumps({"timestamp": 1000 * i, "input_length": 64 + i,
                                        "output_length": 8, "hash_ids": [i]}) + "\n"
                            for i in range(20)))
    load = load_file(tmp_path, "trace", "{load_pattern: {type: trace}, runtime: {passes: 1}}",
                     f"{{path: {data}}}", api="openai")
    found = said(assay, *CARD, "--load", load)
    assert found["n_samples_completed"] == 20
    assert found["duration_ns"] == pytest.approx(19e9, rel=0.02)
    assert found["output_sequence_lengths"]["total"] == 160
    mixed = load_file(tmp_path, "mix", "{load_pattern: {type: poisson, target_qps: 20}, runtime: "
                      "{n_samples_to_issue: 100}}", "{synthetic: {classes: "
                      "['chat,share=3,isl=20,osl=4', 'batch,isl=60,osl=40']}}", api="openai")
    classes = said(assay, *CARD, "--load", mixed)["classes"]["classes"]
    assert [one["name"] for one in classes] == ["chat", "batch"]
    assert sum(one["ended"] for one in classes) == 100
    text = assay("simulate", *CARD, "--load", mixed).out
    assert text.startswith("Simulated: ") and "batch" in text


def test_a_load_that_no_modelled_server_answers_is_refused(assay, tmp_path):
    load = load_file(tmp_path, "rows", "{}", "{synthetic: {isl: 8, count: 2}}",
                     api="openai_embeddings", streaming="off")
    assert "no tokens" in assay("simulate", *CARD, "--load", load, code=2).err
    done = assay("simulate", *CARD, "--load", load, "--rate", 3, code=2)
    assert "--rate: --load has a load of its own" in done.err
    assert "nothing.yaml" in assay("simulate", *CARD, "--load", tmp_path / "nothing.yaml",
                                   code=2).err


def test_a_models_folder_is_named_as_a_path(assay, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text("{}")
    asked = ("simulate", "--hardware", "h200", "--concurrency", 8, "--model")
    assert "for the folder of that name: ./mine" in assay(*asked, "mine", cwd=tmp_path, code=2).err
    assert "num_hidden_layers" in assay(*asked, "./mine", cwd=tmp_path, code=2).err
