"""`assay check` beside the checker that the rules' own organisation publishes, on the same trees:
what that one refuses, ours refuses, and by the same rule where it is one fault; what `assay pack`
writes satisfies both."""

import json
import os
import pathlib
import random
import re
import shutil

import pytest
import yaml
from endpoints_submission_cli.runs.parser import build_archive, parse_run_folder
from endpoints_submission_cli.submissions.builder import build_submission_folder
from submission_checker.accuracy_targets import get_thresholds
from submission_checker.agentic_targets import get_agentic_targets
from submission_checker.checker import SubmissionChecker
from submission_checker.seed_sets import load_seed_sets

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "submission"
CURVE = "results/Example_8x/gpt-oss-120b"

# One demand, two names: ours counts accuracy runs by a rule of its own.
SAME = {"accuracy-run-count": "accuracy-coverage"}


def official(tree):
    """The rules with an error, and their messages."""
    errors = [found for found in SubmissionChecker(tree).run().results
              if found.severity.value == "error"]
    return {found.rule for found in errors}, [f"{found.rule}: {found.message}" for found in errors]


@pytest.fixture
def ours(assay):
    """Rule -> messages of what ours refuses."""
    def check(tree):
        done = assay("check", tree, "--json", "--no-review", "--no-plausibility", code=None)
        out = {}
        for found in done.json()["results"]:
            if found["severity"] == "error":
                out.setdefault(SAME.get(found["rule"], found["rule"]), []).append(found["message"])
        return out
    return check


def load(path):
    text = path.read_text()
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


def save(path, document):
    path.write_text(json.dumps(document) if path.suffix == ".json" else
                    yaml.safe_dump(document, sort_keys=False))


class Tree:
    """A copy of the golden tree, to be damaged."""

    def __init__(self, folder):
        self.root = folder / "tree"
        shutil.copytree(GOLDEN, self.root)

    def file(self, point, name):
        return self.root / CURVE / point / name

    def put(self, point, name, path, value):
        """Sets one value, or removes it (value None); point "*" means all."""
        points = sorted((self.root / CURVE).iterdir()) if point == "*" else [
            self.root / CURVE / point]
        for folder in points:
            document = load(folder / name)
            *steps, last = path
            here = document
            for step in steps:
                here = here[step]
            if value is None:
                del here[last]
            else:
                here[last] = value
            save(folder / name, document)

    def move_accuracy(self, source, target, keep=False):
        put = shutil.copy if keep else shutil.move
        put(self.file(source, "accuracy_results.json"),
            self.file(target, "accuracy_results.json"))


SCORES = ("accuracy_scores", 0)
WARMUP = {"duration_s": 0, "requests_issued": 0, "requests_completed": 0, "data_source": "none",
          "concurrency": 0}

POWER = "results/Example_8x/system_power.json"


def power(tree, change):
    """The system's power file, changed, without the sums that would no longer fit."""
    document = load(tree.root / POWER)
    for name in ("computed", "provisioned_power_kw", "mlc_estimated_power"):
        del document[name]
    change(document)
    save(tree.root / POWER, document)
    for point in sorted((tree.root / CURVE).iterdir()):
        summary = load(point / "result_summary.json")
        summary.pop("system_tps_per_kw", None)
        save(point / "result_summary.json", summary)


def split_set(document):
    """The ensemble's one node becomes two sets of a node each."""
    again = json.loads(json.dumps(document["node_sets"][0]))
    document["node_sets"].append({**again, "node_set_id": 1})
    document["scale_out"] = {"present": True, "cabling": "passive", "required_bandwidth_tbps": 12.8,
                             "nics": NICS, "switches": SWITCHES}


NICS = {"count_per_node": 8, "bandwidth_per_nic_gbps": 800, "counted": True,
        "tdp_per_nic": {"value_w": 25, "source_type": "vendor_spec",
                        "source": "https://example.org/nic"}}
SWITCHES = [{"model": "SN5610", "count": 1, "bandwidth_tbps": 51.2}]


def fabric(**nics):
    return {"present": True, "cabling": "passive", "required_bandwidth_tbps": 6.4,
            "nics": {**NICS, **nics}, "switches": SWITCHES}


def component(document, part, model):
    """A part without a figure: its default is looked up by its name."""
    one = document["node_sets"][0]["components"][part]
    one["model"] = model
    del one["tdp_per_unit"]


def two_datasets(first, second):
    """(samples, repeats, score) of two datasets of one accuracy run."""
    return lambda t: t.put("r48", "accuracy_results.json", ["accuracy_scores"], [
        {"dataset_name": name, "unit_samples": samples, "num_repeats": repeats,
         "score": {"exact_match": score}, "dataset_type": "accuracy", "complete": True}
        for name, (samples, repeats, score) in (("a", first), ("b", second))])


def used(ensemble, nodes):
    return lambda t: t.put("r96", "point.yaml", ["nodes_used"],
                           [{"system_node_ensemble_id": ensemble, "nodes": nodes}])


# (what, the damage, the rule that both name; None: both are content)
DAMAGES = [
    ("nothing", lambda t: None, None),
    ("no config.yaml", lambda t: t.file("r96", "config.yaml").unlink(), "config-file-present"),
    ("a config.yaml that is text", lambda t: t.file("r96", "config.yaml").write_text("word\n"),
     "config-file-present"),
    ("no short name",
     lambda t: t.put("*", "system_desc.json", ["shortened_system_name"], None),
     "system-description-valid"),
    ("20 characters of two bytes",
     lambda t: t.put("*", "system_desc.json", ["shortened_system_name"], "ü" * 20), None),
    ("21 characters",
     lambda t: t.put("*", "system_desc.json", ["shortened_system_name"], "x" * 21),
     "system-description-valid"),
    ("network cards as a number",
     lambda t: t.put("*", "system_desc.json", ["node_types", 0, "host_network_card_count"], 8),
     "system-description-valid"),
    ("Preview by a day that no year has",
     lambda t: (t.put("*", "system_desc.json", ["system_availability_status"], "Preview"),
                t.put("*", "system_desc.json", ["target_availability_date"], "2027-02-30")),
     "system-description-valid"),
    ("C_min declared, as it is", lambda t: t.put("*", "system_desc.json", ["c_min_override"], 8),
     None),
    ("C_min declared where nothing was measured",
     lambda t: t.put("*", "system_desc.json", ["c_min_override"], 9), "c-min-override"),
    ("C_min declared by one point",
     lambda t: t.put("r96", "system_desc.json", ["c_min_override"], 8), "c-min-override"),
    ("C_min declared above a point of Low",
     lambda t: t.put("*", "system_desc.json", ["c_min_override"], 16),
     "low-concurrency-coverage"),
    ("one accuracy run for two regions",
     lambda t: t.file("r8", "accuracy_results.json").unlink(), "accuracy-coverage"),
    ("Low's run stands for Ultra Low, and Low has another",
     lambda t: (t.file("r8", "accuracy_results.json").unlink(),
                t.move_accuracy("r48", "r40", keep=True),
                t.file("r48", "accuracy_results.json").unlink()), "accuracy-coverage"),
    ("a second run in a region", lambda t: t.move_accuracy("r1024", "r512", keep=True),
     "accuracy-coverage"),
    ("a run more, at 40", lambda t: t.move_accuracy("r48", "r40", keep=True),
     "accuracy-coverage"),
    ("no accuracy at Offline", lambda t: t.file("r6396", "accuracy_results.json").unlink(),
     "accuracy-coverage"),
    ("a dataset called by a blank",
     lambda t: t.put("r48", "accuracy_results.json", [*SCORES, "dataset_name"], " "),
     "accuracy-valid"),
    ("a sample too few",
     lambda t: t.put("r48", "accuracy_results.json", [*SCORES, "unit_samples"], 4394),
     "accuracy-sample-count"),
    ("a score below",
     lambda t: t.put("r48", "accuracy_results.json", [*SCORES, "score"], {"exact_match": 82.29}),
     "accuracy-gate"),
    ("no warm-up", lambda t: t.put("r96", "point.yaml", ["warmup"], WARMUP), None),
    ("a warm-up of nobody",
     lambda t: t.put("r96", "point.yaml", ["warmup"], {**WARMUP, "requests_issued": 3}),
     "point-config-valid"),
    ("a step that is a number",
     lambda t: t.put("r96", "point.yaml", ["warmup", "initialization_steps"], [1]),
     "point-config-valid"),
    ("another seed", lambda t: t.put("r96", "point.yaml", [
        "runtime_settings", "runtime", "model_seed"], 7), "seed-runtime-match"),
    ("an unknown set of seeds", lambda t: t.put("*", "point.yaml", ["seed_set"], "Z"),
     "seed-set-membership"),
    ("no load pattern, which means concurrency",
     lambda t: t.put("r96", "point.yaml", ["runtime_settings", "load_pattern"], None), None),
    ("windowable while it drifts",
     lambda t: t.put("r96", "point.yaml", ["steady_state", "state", "tpot_p90"], "Drifting Up"),
     "steady-state-consistency"),
    ("a lost sample", lambda t: t.put("r96", "result_summary.json", ["n_samples_completed"], 31979),
     "metric-consistency-accounting"),
    ("throughput of another run",
     lambda t: t.put("r96", "result_summary.json", ["system_tps"], 9000.0),
     "metric-consistency-system-tps"),
    ("a percentile with two values",
     lambda t: t.put("r96", "result_summary.json", ["ttft", "percentiles", "90"], 1),
     "result-file-valid"),
    ("utilization of another curve",
     lambda t: t.put("r1024", "system_desc.json", ["tps_utilization"], 0.3), "tps-utilization"),
    ("half of the accelerators idle",
     lambda t: t.put("r96", "system_desc.json", ["tensor_parallel"], 4), "maximal-engagement"),
    ("a date that one copy alone has",
     lambda t: t.put("r96", "system_desc.json", ["submission_date"], "2026-11-01"),
     "system-description-consistency"),
    ("interactivity of a single-turn run that nothing gives",
     lambda t: t.put("r96", "result_summary.json", ["e2e_avg_interactivity"], 60.0),
     "agentic-metric-consistency"),
    ("interactivity of a single-turn run that is wrong",
     lambda t: (t.put("r96", "result_summary.json", ["output_tokens_per_turn_total"], 1000),
                t.put("r96", "result_summary.json", ["e2e_turn_time_seconds_total"], 10.0),
                t.put("r96", "result_summary.json", ["e2e_avg_interactivity"], 60.0)),
     "agentic-metric-consistency"),
    ("interactivity of a single-turn run that is right",
     lambda t: (t.put("r96", "result_summary.json", ["output_tokens_per_turn_total"], 1000),
                t.put("r96", "result_summary.json", ["e2e_turn_time_seconds_total"], 10.0),
                t.put("r96", "result_summary.json", ["e2e_avg_interactivity"], 100.0)), None),
    ("a mean that only repeats lift above the gate",
     two_datasets((1000, 4, 83.5), (3395, 1, 81.9)), "accuracy-gate"),
    ("a mean that only repeats push below the gate",
     two_datasets((1000, 4, 81.9), (3395, 1, 82.6)), None),
    ("nodes of an ensemble that two node sets share",
     lambda t: (power(t, split_set), used(0, 1)(t)), "nodes-used"),
    ("a count of cores that is null", lambda t: t.put(
        "*", "system_desc.json", ["node_types", 0, "host_processor_core_count"], None),
     "system-description-valid"),
    ("more nodes than are provisioned",
     lambda t: (t.put("*", "system_desc.json", ["node_types", 0, "number_of_nodes"], 4),
                used(0, 2)(t)), "nodes-used"),
    ("NICs of one node that are not counted",
     lambda t: power(t, lambda d: d.update(scale_out=fabric(counted=False))), "power-descriptor"),
    ("NICs of one node that are counted",
     lambda t: power(t, lambda d: d.update(scale_out=fabric())), None),
    ("a scale-out network without its bandwidth",
     lambda t: power(t, lambda d: (d.update(scale_out=fabric()),
                                   d["scale_out"].pop("required_bandwidth_tbps"))),
     "power-descriptor"),
    ("a Trainium without a figure",
     lambda t: power(t, lambda d: component(d, "accelerator", "Trainium")), "power-descriptor"),
    ("a TPUv7 without a figure",
     lambda t: power(t, lambda d: component(d, "accelerator", "TPUv7")), None),
    ("a CPU that says vera",
     lambda t: power(t, lambda d: component(d, "cpu", "Vera 64-core")), "power-descriptor"),
    ("an Altra of 64 core",
     lambda t: power(t, lambda d: component(d, "cpu", "Altra 64 core")), None),
    ("a subset in Ultra Low",
     lambda t: (t.put("r8", "point.yaml", ["n_samples_from_dataset"], 100),
                t.put("r8", "result_summary.json", ["n_samples_issued"], 6000),
                t.put("r8", "result_summary.json", ["n_samples_completed"], 6000)),
     "min-query-count"),
    ("scores of results.json, as a mapping",
     lambda t: (t.file("r48", "results.json").write_text(json.dumps({"accuracy_scores": {
         "gpqa": {"num_samples": 4395, "score": {"exact_match": 83.42}}}})),
                t.file("r48", "accuracy_results.json").unlink()), None),
    ("no power file", lambda t: (t.root / "results/Example_8x/system_power.json").unlink(),
     "power-descriptor"),
]


@pytest.mark.parametrize("damage, rule", [(damage, rule) for _, damage, rule in DAMAGES],
                         ids=[what for what, _, _ in DAMAGES])
def test_a_damage_has_one_name(tmp_path, ours, damage, rule):
    tree = Tree(tmp_path)
    damage(tree)
    theirs, messages = official(tree.root)
    assert (rule in theirs) if rule else not theirs, messages
    found = ours(tree.root)
    assert (rule in found) if rule else not found


def paths(document, before=()):
    """Every place in a document."""
    inside = document.items() if isinstance(document, dict) else enumerate(document) \
        if isinstance(document, list) else ()
    for key, value in inside:
        yield (*before, key)
        yield from paths(value, (*before, key))


# What ours refuses and the official checker does not: (rule, what the message says, what it does
# there). docs/guide/check.md has the same list for users.
NUMBER = r" is (true|\".*\"|a list of \d+|a map of \d+|\d+)"
ONLY_OURS = [
    ("accuracy-valid", r"has no score; expected: a number, or an object of metrics$",
     "a dataset without a score is passed over there"),
    ("accuracy-gate", r"no exact_match in the file;", "a gate without its metric is passed over"),
    ("accuracy-valid", rf"(unit_samples|num_repeats){NUMBER}; expected: an integer$",
     "a count that is none is taken for absent"),
    ("accuracy-sample-count", r"^0 samples scored;", "repeats that are not a whole number"),
    ("system-description-valid", rf"{NUMBER}; expected: (an integer|a number)$",
     "text and true are made numbers"),
    ("system-description-valid", r" is -?\d+; expected: \d+ or more$",
     "numbers below what can be are taken"),
    ("system-description-valid",
     r" is missing; expected: (text|an integer|a list)$|node_types is empty;",
     "the nodes' fields of section 8.2 are not asked for"),
    ("point-config-valid", rf"{NUMBER}; expected: (an integer|a number|true or false)$",
     "text and numbers are made what the field wants"),
    ("point-config-valid", r" is -?\d+; expected: (\d+ to \d+|\d+ or more)$",
     "numbers below what can be are taken"),
    ("point-config-valid", r"(division|dataset_type) is .*; expected: [A-Z]|dataset is missing;",
     "words other than the rules' are taken, and a point without a dataset"),
    ("measurement-points-present", r"no point whose point.yaml can be used;",
     "it follows from the points that ours refuses"),
    ("point-disclosure-complete", r"missing: (link_to_model|dataset_link);",
     "a blank is taken for a link"),
    ("result-file-valid", rf"{NUMBER}; expected: a number$", "text and true are made numbers"),
    ("maximal-engagement", r"; expected: \d+ or fewer: the system has \d+ accelerators$",
     "parallelism beyond the system is not multiplied"),
    ("power-descriptor", r"model is missing;", "a part without a name is taken"),
    ("power-descriptor", r"mlc_estimated_power is true;", "the tag is not computed again"),
    ("system-description-consistency", r"node_types is ", "its check breaks off"),
]


def test_the_figures_of_endpoints_v1_are_the_checkers(assay):
    """Every workload of that edition, by submission_checker.accuracy_targets, .agentic_targets and
    data/seed_sets.yaml."""
    names = {"rougel": "rougeL", "rougelsum": "rougeLsum", "gen_len": "tokens_total"}
    seeds = load_seed_sets()["A"]
    seen = 0
    for one in assay("workloads", "--json").json():
        if "endpoints-v1.0" not in one["editions"]:
            continue
        name = one["workload"]
        shown = assay("workloads", name, "--edition", "endpoints-v1.0", "--json").json()
        for seed in ("scheduler_rng_seed", "sample_index_rng_seed", "model_seed"):
            assert shown["seeds"][seed] == getattr(seeds, seed), (name, seed)
        ours = {bound["metric"]: (bound.get("at_least"), bound.get("at_most"))
                for bound in shown["quality"]}
        if single := get_thresholds(name):
            theirs = {names.get(metric, metric): bounds for metric, bounds in single[0].items()}
            assert shown["accuracy_samples"] == single[1], name
        else:
            agentic = get_agentic_targets(name)
            theirs = {"agentic_inference_inline": (agentic.inline_min, None),
                      "swe_bench": (agentic.swebench_min, None),
                      "output_tokens_per_turn_mean": agentic.osl_range}
        assert set(ours) == set(theirs), name
        for metric, bounds in theirs.items():
            for our, their in zip(ours[metric], bounds, strict=True):
                assert our == (pytest.approx(their, rel=1e-9) if their else None), (name, metric)
        seen += 1
    assert seen >= 6


VALUES = [None, "", " ", "x", "12", 0, -1, 1, 1.5, True, [], [1], {}, {"a": 1}, 1e12, "Preview",
          "dedicated", "elected", "2026-11-C0"]


def damage_at_random(tree, dice):
    """One value of one file, or of the same file of every point, becomes another or goes."""
    path = dice.choice(sorted(file for file in tree.root.rglob("*")
                              if file.suffix in (".json", ".yaml") and file.name != "config.yaml"))
    place = dice.choice(list(paths(load(path))))
    value, gone = dice.choice(VALUES), dice.random() < 0.3
    alike = sorted(tree.root.rglob(path.name)) if dice.random() < 0.4 else [path]
    for file in alike:
        document = here = load(file)
        try:
            for key in place[:-1]:
                here = here[key]
            here[place[-1]] = value
            if gone:
                del here[place[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        save(file, document)
    return f"{path.relative_to(tree.root)} x{len(alike)}: {place} {'gone' if gone else repr(value)}"


@pytest.mark.parametrize("seed", range(4))
def test_the_official_checker_refuses_the_same_but_for_the_list(tmp_path, ours, seed):
    """ASSAY_DAMAGES: how many trees in all; `full` has 2,000."""
    dice = random.Random(seed)
    refused = 0
    for turn in range(int(os.environ.get("ASSAY_DAMAGES", "240")) // 4):
        folder = tmp_path / str(turn)
        folder.mkdir()
        tree = Tree(folder)
        what = damage_at_random(tree, dice)
        try:
            theirs, messages = official(tree.root)
        except (ValueError, TypeError):
            theirs, messages = set(), []  # it broke off without a verdict
        refused += bool(theirs)
        found = ours(tree.root)
        assert not theirs or found, f"{what}\n{messages}"
        for rule, said in [] if theirs else [(rule, one) for rule in found for one in found[rule]]:
            assert any(rule == one and re.search(text, said) for one, text, _ in ONLY_OURS), (
                f"{what}\nonly ours refuses it: {rule}: {said}")
        shutil.rmtree(folder)
    assert refused > 10


# Utilization is each point's own; the builder makes it anew.
@pytest.mark.filterwarnings("ignore:Runs have inconsistent system_info")
def test_what_pack_writes_satisfies_the_official_checker(tmp_path, assay, endpoint, ours):
    """All but what a short run on one machine cannot have."""
    server = endpoint("--ttft", "1ms", "--itl", "1ms", "--osl", "8")
    data = tmp_path / "prompts.jsonl"
    data.write_text("".join(json.dumps({"prompt": f"say {i}"}) + "\n" for i in range(48)))
    levels = [1, 2, 3, 6, 10, 24, 40]
    for level in levels:
        assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", level, "--dataset",
              data, "--samples", 240, "--report-dir", tmp_path / f"r{level}", "--quiet",
              "--allow-client-limited")
    answers = tmp_path / "answers.yaml"
    answers.write_text(yaml.safe_dump({
        "system": {"division": "Standardized", "system_name": "Loop of one machine",
                   "system_availability_status": "Available",
                   "availability_url": "https://example.org/buy", "system_size": "1 node",
                   "tensor_parallel": 1, "pipeline_parallel": 1, "expert_parallel": 1,
                   "data_parallel": 1,
                   "node_types": [{"system_node_ensemble_id": 0, "number_of_nodes": 1,
                                   "host_memory_configuration": "1x 16GB",
                                   "host_network_card_count": "1x 1 GbE", "driver": "none",
                                   "filesystem": "ext4",
                                   "accelerator_info": [{"accelerator_model_name": "none",
                                                         "accelerators_per_node": 1}]}]},
        "point": {"model_name": "llama3_1-8b", "model_precision": "FP8",
                  "link_to_model": "https://example.org/m", "dataset_name": "prompts",
                  "dataset": "prompts", "dataset_type": "Performance",
                  "dataset_link": "https://example.org/d"}}))
    assay("pack", *(tmp_path / f"r{level}" for level in levels), "--max-concurrency", 40, "--out",
          tmp_path / "tree", "--answers", answers)
    # Its own builder takes the run folders, with the two files that a submitter puts beside.
    curve = tmp_path / "tree/results/Loop_of_one_machine/llama3_1-8b"
    archives = []
    for level in levels:
        run = tmp_path / f"r{level}"
        for name in ("point.yaml", "system_desc.json"):
            shutil.copy(curve / f"r{level}" / name, run / name)
        assert parse_run_folder(run)["result_summary"]["n_samples_completed"] == 240
        archives.append((run.name, build_archive(run, tmp_path / f"r{level}.tar.gz")))
    built = build_submission_folder(archives, "Standardized", "Available", tmp_path / "built",
                                    shared_src_dirs=[tmp_path / "tree/src"],
                                    shared_docs_dirs=[tmp_path / "tree/docs"])
    # No accuracy, no seeds of a published set, no power: these were not given here.
    lacking = {"accuracy-present", "accuracy-coverage", "offline-point-present", "point-count",
               "power-descriptor", "seed-runtime-match", "seed-set-membership",
               "seed-config-legacy", "seed-set-adoption", "point-disclosure-complete",
               "target-cohort"}
    for tree in (tmp_path / "tree", built):
        theirs, messages = official(tree)
        assert theirs <= lacking, messages
        assert set(ours(tree)) <= lacking
