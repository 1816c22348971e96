"""Tests with settings drawn by chance, ours against the stock library's: queries, due times,
settings in force, and the four log files.

    LOADGEN_SEEDS=300 LOADGEN_FIRST_SEED=1000 pytest tests/peers/loadgen_random_test.py

takes more of them. A seed names its test: a failure prints the file of settings.
"""

import os
import random

import pytest

import loadgen_logs_test
import loadgen_test

SEEDS = int(os.environ.get("LOADGEN_SEEDS", "6"))
FIRST = int(os.environ.get("LOADGEN_FIRST_SEED", "1"))
MODELS = ["resnet50", "bert", "gptj", "3d-unet", "rgat", "pointpainting", "llama2-70b",
          "llama2-70b-interactive", "dlrm-v3", "yolo", "whisper", "nobody"]


def amount(chance, most):
    """A whole number, as C reads it."""
    number = int(most ** chance.random())
    return chance.choice([f"{number}", f"{number}", f"{number:#x}", f"0{number:o}", f"{number}.7"])


def lines_of(chance, model, scenario):
    """Settings under any of the four ways to name them; none gives more than a few thousand queries
    or lasts longer than a moment."""
    one = chance.choice
    out = ["*.*.min_duration = 20", "*.*.min_query_count = 40",
           "*.SingleStream.target_latency = 0.5", "*.MultiStream.target_latency = 1",
           f"*.Server.target_qps = {chance.uniform(300, 4000):.3f}",
           f"*.Offline.target_qps = {chance.uniform(300, 4000):.3f}"]
    drawn = {
        "min_duration": lambda: str(chance.randint(0, 40)),
        "min_query_count": lambda: amount(chance, 300),
        "max_query_count": lambda: one(["0", amount(chance, 400)]),
        "max_duration": lambda: one(["0", "60000"]),
        "target_latency_percentile": lambda: f"{chance.uniform(50, 99.9):.2f}",
        "samples_per_query": lambda: str(chance.randint(1, 12)),
        "sample_concatenate_permutation": lambda: one("01"),
        "performance_sample_count_override": lambda: one(["0", str(chance.randint(1, 80))]),
        "accuracy_sample_count_override": lambda: one(["0", str(chance.randint(1, 80))]),
        "performance_issue_unique": lambda: one("01"),
        "performance_issue_same": lambda: one("001"),
        "performance_issue_same_index": lambda: "0",
        "accuracy_log_rng_seed": lambda: str(chance.getrandbits(40)),
        "accuracy_log_sampling_target": lambda: str(chance.randint(0, 50)),
        "coalesce": lambda: "1",
        "mode": lambda: one(["0", "1", "2"])}
    for name, value in drawn.items():
        if chance.random() < 0.4:
            section = one(["*.*", f"{model}.*", f"*.{scenario}", f"{model}.{scenario}"])
            out.append(f"{section}.{name} = {value()}")
    chance.shuffle(out)
    return "".join(line + "\n" for line in out)


def drawn_spec(seed):
    chance = random.Random(seed)
    scenario = chance.choice(loadgen_test.SCENARIOS)
    model = chance.choice(MODELS)
    samples = chance.choice([1, 2, 37, 64, 200, 501])
    # The stock library ends by a signal where tokens are measured and none are reported.
    tokens = {"tokens": 5} if model.startswith(("llama2", "whisper")) else {}
    return {"scenario": scenario, "model": model, "samples": samples, **tokens,
            "loaded": chance.choice([samples, max(1, samples // 3)]),
            "lines": lines_of(chance, model, scenario)}


def without(lines, *names):
    return "".join(line + "\n" for line in lines.splitlines()
                   if not any(name in line for name in names))


def refused(assay, spec, config):
    """What no test follows from: LoadGen's behaviour is undefined there, and ours an error."""
    config.write_text(loadgen_test.SHORT + spec["lines"])
    args = ["--config", config, "--model", spec["model"], "--scenario", spec["scenario"],
            "--samples", spec["samples"], "--loaded", spec["loaded"]]
    return assay("loadgen", "plan", *args, "--queries", 0, code=None).code == 2


@pytest.mark.parametrize("seed", range(FIRST, FIRST + SEEDS))
def test_any_settings_give_the_stock_librarys_queries_and_logs(assay, tmp_path, seed):
    spec = drawn_spec(seed)
    print(spec)
    if refused(assay, spec, tmp_path / "refused.conf"):
        return
    (tmp_path / "queries").mkdir()
    # A plan lists what is generated; the greatest number ends a test before that.
    loadgen_test.test_queries_are_the_stock_librarys(
        assay, tmp_path / "queries", {**spec, "lines": without(spec["lines"], "max_query_count")})
    # What a slow machine would change: the end by time, and the limits of the server.
    spec["lines"] = without(spec["lines"], "min_duration", "percentile") + (
        "*.*.min_duration = 0\n*.Server.target_latency = 3600000\n"
        "*.Server.ttft_latency = 3600000\n*.Server.tpot_latency = 3600000\n")
    if refused(assay, spec, tmp_path / "refused.conf"):
        return
    spec["payload"] = 1
    (tmp_path / "logs").mkdir()
    loadgen_logs_test.test_the_log_files_are_the_stock_librarys(tmp_path / "logs", spec)
