"""Every figure of a round of MLPerf Inference, in every workload, as that round's checker has it.

tests/data/checker_constants.json has the constants, and names the repository, commit and file of
each round."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
# Its names of workloads and metrics are used; no figure is from it.
import workload_rounds  # noqa: E402

ROUNDS = json.loads((ROOT / "tests/data/checker_constants.json").read_text(encoding="utf-8"))
STOOD_FOR_A_SCENARIO = {"llama2-70b-interactive-99", "llama2-70b-interactive-99.9"}
# Where a workload's own edition says why it differs, its edition of the checker's word is compared.
OF_THE_CHECKER = {("dlrm-v3", "v6.1"): "inference-v6.1-checker"}
# Our readings of what the constants leave open or have wrong, each with its reason.
DIFFERS = {
    ("dlrm-v3", "v6.0", "normalised_entropy"): "lower is better; the checker asks for at least",
}


def rounds_and_models():
    for version, one in ROUNDS.items():
        for model in one["models"]:
            if model not in STOOD_FOR_A_SCENARIO:
                yield version, model


PAIRS = list(rounds_and_models())


def place(model):
    """The workload and the end of its editions' names."""
    for workload, edge in workload_rounds.EDGE.items():
        if model in edge["models"]:
            return workload, "-edge"
    return next(name for name, models in workload_rounds.WORKLOADS.items() if model in models), ""


@pytest.fixture(name="shown")
def fixture_shown(assay):
    def show(version, model):
        workload, end = place(model)
        edition = OF_THE_CHECKER.get((workload, version), f"inference-{version}{end}")
        return assay("workloads", workload, "--edition", edition, "--json").json()
    return show


def by_scenario(bounds):
    some = next(iter(bounds.values()), None)
    return bounds if isinstance(some, dict) else {"Offline": bounds}


@pytest.mark.parametrize("version, model", PAIRS)
def test_targets_are_the_checkers(shown, version, model):
    workload = shown(version, model)
    theirs = ROUNDS[version]["models"][model]
    most_of = by_scenario(theirs["at_most"])
    for scenario, least in by_scenario(theirs["at_least"]).items():
        ours = workload["scenarios"].get(workload_rounds.SCENARIOS[scenario], {}).get("quality") \
            or workload["quality"]
        ours = [one for one in ours if one.get("of", model) == model]
        most = most_of.get(scenario, {})
        assert len(ours) == len(set(least) | set(most)), (scenario, ours)
        for bound, wanted in (("at_least", least), ("at_most", most)):
            for metric, (value, _, _) in wanted.items():
                name = workload_rounds.metric_of(model, metric)
                if (place(model)[0], version, name) in DIFFERS:
                    continue
                one = next(one for one in ours if one["metric"] == name)
                scale = workload_rounds.SCALES.get(model, 1)
                assert one[bound] == pytest.approx(value * scale, rel=1e-9), (name, bound)


@pytest.mark.parametrize("version, model", PAIRS)
def test_scenarios_and_limits_are_the_checkers(shown, version, model):
    ours = shown(version, model)["scenarios"]
    models = ROUNDS[version]["models"]
    theirs = models[model]
    workload, end = place(model)
    targets = workload_rounds.EDGE[workload]["models"] if end else \
        workload_rounds.WORKLOADS[workload]
    wanted = workload_rounds.scenarios_of(models, [one for one in targets if one in models])
    other = workload_rounds.INTERACTIVE.get(model)
    # Servers of both categories may run more, which no category alone demands.
    more = set(ours) - {workload_rounds.SCENARIOS[one] for one in wanted}
    assert more <= {"server", "multi_stream"}, more
    for scenario, required in wanted.items():
        one = ours[workload_rounds.SCENARIOS[scenario]]
        assert one.get("required", False) is required, scenario
        limits = one.get("limits", {})
        tokens = theirs.get("tokens_ns", {}).get(scenario)
        if scenario == "Interactive" and other in models:
            tokens = models[other]["tokens_ns"]["Server"]
        if tokens:
            assert limits == {"ttft_ms_p99": tokens["ttft"] / 1e6,
                              "tpot_ms_p99": tokens["tpot"] / 1e6}
        elif scenario in theirs.get("latency_ns", {}) and scenario in ("Server", "Interactive"):
            assert limits == {"latency_ms_p99": theirs["latency_ns"][scenario] / 1e6}


@pytest.mark.parametrize("version, model", PAIRS)
def test_counts_and_seeds_are_the_checkers(shown, version, model):
    workload = shown(version, model)
    theirs = ROUNDS[version]["models"][model]
    assert workload["seeds"] == ROUNDS[version]["seeds"]
    counts = set()
    for data in workload["datasets"].values():
        counts |= {data["rows"], data.get("performance_samples")}
    for one in workload["scenarios"].values():
        counts |= {one.get("queries_min"), one.get("samples_min")}
    assert theirs["performance_samples"] in counts
    assert theirs.get("rows", theirs["performance_samples"]) in counts
    accuracy = theirs.get("accuracy_samples")
    if isinstance(accuracy, int):
        assert accuracy in counts | {workload.get("accuracy_samples")}
    elif accuracy:
        assert set(accuracy.values()) <= counts


ENDPOINTS = json.loads((ROOT / "tests/data/endpoints_constants.json").read_text(encoding="utf-8"))
ENDPOINTS_NAMES = {"rougel": "rougeL", "rougelsum": "rougeLsum", "gen_len": "tokens_total"}


@pytest.mark.parametrize("version, model", [(version, model) for version, one in ENDPOINTS.items()
                                            for model in one["models"]])
def test_an_edition_of_endpoints_is_the_checkers(assay, version, model):
    shown = assay("workloads", model, "--edition", f"endpoints-{version}", "--json").json()
    theirs = ENDPOINTS[version]["models"][model]
    assert shown["seeds"] == ENDPOINTS[version]["seeds"]
    assert shown["duration_min_ms"] == ENDPOINTS[version]["duration_min_ms"]
    assert set(shown["scenarios"]) == {"concurrency"}
    assert shown["accuracy_samples"] == theirs["accuracy_samples"]
    assert len(shown["quality"]) == len(theirs["targets"])
    for one in shown["quality"]:
        name = next(name for name in theirs["targets"]
                    if ENDPOINTS_NAMES.get(name, name) == one["metric"])
        bounds = theirs["targets"][name]
        for bound in ("at_least", "at_most"):
            if bound not in bounds:
                assert bound not in one, name
                continue
            reference, factor = bounds[bound]
            assert one[bound] == pytest.approx(reference * factor, rel=1e-9), (name, bound)


def test_the_file_of_rounds_is_what_the_tool_writes():
    done = subprocess.run([sys.executable, "-B", ROOT / "tools/workload_rounds.py", "write"],
                          check=True, capture_output=True, text=True)
    assert done.stdout == (ROOT / "workloads/rounds.yaml").read_text(encoding="utf-8")
