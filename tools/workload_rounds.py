#!/usr/bin/env python3
"""The suites' rounds as the submission checkers publish them.

    tools/workload_rounds.py extract INFERENCE_GIT > tests/data/checker_constants.json
    tools/workload_rounds.py write > workloads/rounds.yaml
    tools/workload_rounds.py rules > src/asking/rulebook/inference_rounds.cc

`extract` reads the constants of each round from a git directory of github.com/mlcommons/inference:
v4.1 from its tag, since later checkers have dropped it, the others from the newest commit. Targets
keep their reference and factor. `write` makes each workload's editions from them;
tests/e2e/rounds_test.py holds every workload against the same file. `rules` makes the constants of
`assay check --suite inference` from the same file: the rounds that the newest checker knows.
"""

import ast
import itertools
import json
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
CONSTANTS = ROOT / "tests" / "data" / "checker_constants.json"
ENDPOINTS = ROOT / "tests" / "data" / "endpoints_constants.json"
NEWEST = "tools/submission/submission_checker/constants.py"
OLD = "tools/submission/submission_checker.py"
PLACES = {"v4.1": ("v4.1", OLD), "v5.0": ("HEAD", NEWEST), "v5.1": ("HEAD", NEWEST),
          "v6.0": ("HEAD", NEWEST), "v6.1": ("HEAD", NEWEST)}
KEYS = {"performance-sample-count": "performance_samples", "dataset-size": "rows",
        "accuracy-sample-count": "accuracy_samples", "min-queries": "queries_min",
        "latency-constraint": "latency_ns"}

# The checkers' models by workload; each target of a workload with several is named by its model.
WORKLOADS = {
    "3d-unet": ["3d-unet-99", "3d-unet-99.9"],
    "bert-99": ["bert-99", "bert-99.9"],
    "deepseek-r1": ["deepseek-r1"],
    "dlrm-v2": ["dlrm-v2-99", "dlrm-v2-99.9"],
    "dlrm-v3": ["dlrm-v3"],
    "e2e-rag-db": ["e2e-rag-db"],
    "e2e-rag-qna": ["e2e-rag-qna"],
    "gpt-j-6b": ["gptj-99", "gptj-99.9"],
    "gpt-oss-120b": ["gpt-oss-120b"],
    "llama2-70b": ["llama2-70b-99", "llama2-70b-99.9"],
    "llama3.1-405b": ["llama3.1-405b"],
    "llama3.1-8b": ["llama3.1-8b"],
    "mixtral-8x7b": ["mixtral-8x7b"],
    "pointpainting": ["pointpainting"],
    "qwen3-vl-235b-a22b": ["qwen3-vl-235b-a22b"],
    "qwen3.6-27b": ["qwen3.6-27b"],
    "resnet50": ["resnet"],
    "retinanet": ["retinanet"],
    "rgat": ["rgat"],
    "stable-diffusion-xl": ["stable-diffusion-xl"],
    "wan2.2-t2v-a14b": ["wan-2.2-t2v-a14b"],
    "whisper": ["whisper"],
    "yolo11l": ["yolo-95", "yolo-99"],
}
METRICS = {"acc": "top1", "F1": "f1", "DICE": "mean_dice", "mAP": "coco_map", "ROUGE1": "rouge1",
           "ROUGE2": "rouge2", "ROUGEL": "rougeL", "ROUGELSUM": "rougeLsum", "GEN_LEN": "gen_len",
           "TOKENS_PER_SAMPLE": "tokens_per_sample", "CLIP_SCORE": "clip_score",
           "FID_SCORE": "fid_score", "exact_match": "exact_match", "ACCURACY": "word_accuracy",
           "F1_HIERARCHICAL": "category_f1", "DLRM_NE": "normalised_entropy",
           "DLRM_ACC": "accuracy", "DLRM_AUC": "auc", "AUC": "auc", "vbench_score": "vbench_score",
           "gsm8k_accuracy": "gsm8k", "mbxp_accuracy": "mbxp", "E2E_ACCURACY": "rag_accuracy"}
# Where a model's metric is another than the checker's name for it says.
OTHER_METRICS = {("qwen3.6-27b", "mAP"): "overall_accuracy",
                 ("pointpainting", "mAP"): "waymo_map",
                 ("dlrm-v2-99", "AUC"): "auc_percent", ("dlrm-v2-99.9", "AUC"): "auc_percent"}
# The checker has a fraction where its tool, and ours, print percent.
SCALES = {"rgat": 100}
LOWER_IS_BETTER = {"DLRM_NE"}
SCENARIOS = {"Offline": "offline", "Server": "server", "Interactive": "interactive",
             "SingleStream": "single_stream", "MultiStream": "multi_stream"}
# The same workload at the edge, with its own dataset.
EDGE = {"llama3.1-8b": {
    "models": ["llama3.1-8b-edge"],
    "config": {"datasets": [
        {"name": "sample_cnn_eval_5000", "type": "performance"},
        {"name": "sample_cnn_eval_5000", "type": "accuracy",
         "accuracy_config": {"eval_method": "rouge", "extractor": "identity_extractor",
                             "ground_truth": "output"}}]}}}
# The models that stood for a scenario before the checkers had it.
INTERACTIVE = {"llama2-70b-99": "llama2-70b-interactive-99",
               "llama2-70b-99.9": "llama2-70b-interactive-99.9"}


def number(node):
    """[value, reference, factor] of `76.46 * 0.99`; the value alone of a plain number."""
    value = eval(compile(ast.Expression(node), "constants", "eval"), {})  # numbers only
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts = [eval(compile(ast.Expression(one), "constants", "eval"), {})
                 for one in (node.left, node.right)]
        factor, reference = sorted(parts, key=lambda part: abs(part - 1))
        return [value, reference, factor]
    return [value, value, 1]


def targets(node):
    """{metric: [value, reference, factor]}, or the same by scenario."""
    if isinstance(node, ast.Dict):
        return {key.value: targets(value) for key, value in zip(node.keys, node.values)}
    return {name.value: number(value) for name, value in zip(node.elts[::2], node.elts[1::2])}


def members(node):
    return {key.value: value for key, value in zip(node.keys, node.values)}


def assigned(tree, name):
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return node.value
    return ast.Dict([], [])


def plain(node):
    return eval(compile(ast.Expression(node), "constants", "eval"), {})


def round_of(tree, version):
    config = members(members(assigned(tree, "MODEL_CONFIG"))[version])
    bounds = {key: {name: targets(one) for name, one in members(config[key]).items()}
              for key in ("accuracy-target", "accuracy-upper-limit") if key in config}
    tokens = plain(assigned(tree, "LLM_LATENCY_LIMITS"))
    models = {}
    for name in plain(config["models"]):
        model = {"at_least": bounds["accuracy-target"].get(name, {}),
                 "at_most": bounds.get("accuracy-upper-limit", {}).get(name, {})}
        for key, ours in KEYS.items():
            value = plain(config[key]).get(name) if key in config else None
            if value is not None:
                model[ours] = value
        for kind in ("datacenter", "edge", "datacenter-edge"):
            for word in ("required", "optional"):
                key = f"{word}-scenarios-{kind}"
                found = plain(config[key]).get(name, []) if key in config else []
                if found:
                    model[f"{word}_{kind}"] = found
        if name in tokens:
            limits = tokens[name]
            # Before there was an Interactive scenario, Server's stood alone or as conversational.
            model["tokens_ns"] = {"Server": limits["conversational"]} \
                if "conversational" in limits else limits
        tests = [key.removeprefix("models_") for key in config
                 if key.startswith("models_TEST") and name in plain(config[key])]
        if tests:
            model["tests"] = sorted(tests)
        for key, constant in (("offline_samples_min", "OFFLINE_MIN_SPQ_SINCE_V4"),
                              ("accuracy_files", "REQUIRED_ACC_BENCHMARK")):
            found = plain(assigned(tree, constant))
            found = found.get(name) if isinstance(found, dict) else None
            found = found.get(version) if isinstance(found, dict) else found
            if found is not None:
                model[key] = found
        fields = plain(assigned(tree, "RESULT_FIELD_BENCHMARK_OVERWRITE")) or {}
        if name in fields.get(version, {}):
            model["metric_keys"] = fields[version][name]
        if name in plain(config["accuracy-delta-perc"] if "accuracy-delta-perc" in config
                         else ast.Dict([], [])):
            model["accuracy_delta_percent"] = plain(config["accuracy-delta-perc"])[name]
        models[name] = model
    return {"models": models, "seeds": plain(config["seeds"]),
            "names": plain(config["model_mapping"])}


def extract(git):
    out = {}
    for version, (commit, path) in PLACES.items():
        source = subprocess.run(["git", "-C", git, "show", f"{commit}:{path}"], check=True,
                                capture_output=True, text=True).stdout
        full = subprocess.run(["git", "-C", git, "rev-parse", f"{commit}^{{commit}}"], check=True,
                              capture_output=True, text=True).stdout.strip()
        out[version] = {"source": f"mlcommons/inference {full} {path}",
                        **round_of(ast.parse(source), version)}
    print(json.dumps(out, indent=1))


def exact(value):
    """A product without the dust of binary arithmetic."""
    return float(f"{value:.10g}") if isinstance(value, float) else value


def of_scenario(bounds, scenario):
    some = next(iter(bounds.values()), None)
    return bounds.get(scenario, {}) if isinstance(some, dict) else bounds


def metric_of(model, theirs):
    return OTHER_METRICS.get((model, theirs), METRICS[theirs])


def quality(models, names, scenario):
    out = []
    for name in names:
        most = of_scenario(models[name]["at_most"], scenario)
        for metric, (value, reference, factor) in of_scenario(models[name]["at_least"],
                                                             scenario).items():
            scale = SCALES.get(name, 1)
            one = {"metric": metric_of(name, metric), "reference": exact(reference * scale)}
            if metric in LOWER_IS_BETTER:
                # The checker wants at least 0.999 of the reference, which refuses the better ones.
                factor = 2 - factor
            if factor != 1 and metric not in most:
                one["factor"] = exact(factor)
            if metric in LOWER_IS_BETTER:
                one["at_most"] = exact(reference * factor)
            else:
                one["at_least"] = exact(value * scale)
            if metric in most:
                one["at_most"] = exact(most[metric][0])
                if factor == most[metric][2] == 1:  # a range, whose middle is the reference
                    one["reference"] = exact((value + most[metric][0]) / 2)
            if len(names) > 1:
                one["of"] = name
            out.append(one)
        for metric, (value, reference, _) in most.items():
            if metric not in of_scenario(models[name]["at_least"], scenario):
                out.append({"metric": metric_of(name, metric), "reference": reference,
                            "at_most": exact(value), **({"of": name} if len(names) > 1 else {})})
    return out


def scenarios_of(models, names):
    """{the checker's scenario: is it required}: of all targets of a workload, in either category,
    or in both where it is in neither alone."""
    for kinds in (("datacenter", "edge"), ("datacenter-edge",)):
        out = {}
        for name, kind, word in itertools.product(names, kinds, ("optional", "required")):
            for scenario in models[name].get(f"{word}_{kind}", []):
                out[scenario] = out.get(scenario, False) or word == "required"
        if out:
            break
    if any(INTERACTIVE.get(name) in models for name in names):
        out["Interactive"] = False
    return out


def limits(models, name, scenario):
    model = models[name]
    if scenario == "Interactive" and INTERACTIVE.get(name) in models:
        model, scenario = models[INTERACTIVE[name]], "Server"
    if scenario not in ("Server", "Interactive"):
        return {}
    tokens = model.get("tokens_ns", {}).get(scenario)
    if tokens:
        return {"ttft_ms_p99": tokens["ttft"] // 10**6, "tpot_ms_p99": tokens["tpot"] // 10**6}
    latency = model.get("latency_ns", {}).get(scenario)
    return {"latency_ms_p99": latency // 10**6} if latency else {}


def edition(models, names):
    first = models[names[0]]
    found = scenarios_of(models, names)
    rows = first["performance_samples"]
    scenarios = {}
    for theirs, ours in SCENARIOS.items():
        if theirs not in found:
            scenarios[ours] = None
            continue
        one = {"required": True} if found[theirs] else {}
        if theirs == "Offline":
            one["queries_min"] = min(first["rows"], 24576) if rows < first["rows"] else rows
        elif theirs == "SingleStream":
            least = first.get("queries_min", {}).get(theirs, 1024)
            # Conversations are counted by the samples of their accuracy set.
            one["samples_min" if names == ["qwen3.6-27b"] else "queries_min"] = least
        elif theirs == "MultiStream":
            one.update(samples_per_query=8, queries_min=662)
        else:
            one["queries_min"] = rows
        if limits(models, names[0], theirs):
            one["limits"] = limits(models, names[0], theirs)
        scenarios[ours] = one
    out = {"scenarios": scenarios, "quality": quality(models, names, "Offline")}
    accuracy = first.get("accuracy_samples")
    if isinstance(accuracy, int):
        out["accuracy_samples"] = accuracy
    return out


def own_editions():
    """The editions that a workload's file writes by hand."""
    out = {}
    for path in sorted((ROOT / "workloads").glob("*.yaml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        name = next((line.split(": ", 1)[1] for line in lines if line.startswith("workload: ")), "")
        out[name] = {line.split(": ", 1)[1] for line in lines if line.startswith("edition: ")}
        if "editions:" in lines:
            out[name] |= {line.strip().rstrip(":") for line in lines[lines.index("editions:"):]
                          if line.startswith("  ") and line[2] != " "}
    return out


# What the checker of Endpoints calls the metrics; its gen_len is the sum over all samples.
ENDPOINTS_METRICS = {"rougel": "rougeL", "rougelsum": "rougeLsum", "gen_len": "tokens_total"}


def endpoints_edition(model):
    """A curve of concurrency alone. Editions that a workload writes by hand win over it."""
    bounds = []
    for metric, one in model["targets"].items():
        reference, factor = one["at_least"]
        out = {"metric": ENDPOINTS_METRICS.get(metric, metric), "reference": reference}
        if "at_most" not in one:
            out["factor"] = factor
        out["at_least"] = exact(reference * factor)
        if "at_most" in one:
            out["at_most"] = exact(one["at_most"][0] * one["at_most"][1])
        bounds.append(out)
    scenarios = dict.fromkeys(SCENARIOS.values())
    scenarios["concurrency"] = {}
    return {"scenarios": scenarios, "quality": bounds,
            "accuracy_samples": model["accuracy_samples"]}


def lines_of(edition):
    lines = []
    for key, value in edition.items():
        if isinstance(value, list):
            lines.append(f"      {key}:")
            lines += [f"        - {json.dumps(item)}" for item in value]
        elif isinstance(value, dict):
            lines.append(f"      {key}:")
            lines += [f"        {part}: {json.dumps(item)}" for part, item in value.items()]
        else:
            lines.append(f"      {key}: {json.dumps(value)}")
    return lines


def write():
    rounds = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    endpoints = json.loads(ENDPOINTS.read_text(encoding="utf-8"))
    # v4.1 has no sizes of datasets; they are those of later rounds.
    for name, model in rounds["v4.1"]["models"].items():
        model.setdefault("rows", rounds["v5.0"]["models"][name]["rows"])
    own = own_editions()
    print("# The rounds of MLPerf that a workload's own file does not write. Made by\n"
          "# tools/workload_rounds.py from the constants of each round's submission checker\n"
          "# (tests/data/checker_constants.json and endpoints_constants.json name the sources).\n"
          "# Not to be edited.\nrounds:")
    for workload, theirs in WORKLOADS.items():
        lines = []
        kinds = [("", theirs, {})]
        if workload in EDGE:
            kinds.append(("-edge", EDGE[workload]["models"], EDGE[workload]))
        for version, (end, models, more) in itertools.product(sorted(rounds, reverse=True), kinds):
            one = rounds[version]
            names = [name for name in models if name in one["models"]]
            ours = f"inference-{version}{end}"
            if not names or ours in own.get(workload, ()):
                continue
            lines.append(f"    {ours}:")
            if more:
                lines.append(f"      base: inference-{version}")
                lines.append(f"      config: {json.dumps(more['config'])}")
            lines += lines_of(edition(one["models"], names))
        for version, one in endpoints.items():
            ours = f"endpoints-{version}"
            if workload in one["models"] and ours not in own.get(workload, ()):
                lines.append(f"    {ours}:")
                lines += lines_of(endpoints_edition(one["models"][workload]))
        if lines:
            print(f"  {workload}:")
            print("\n".join(lines))


def rules():
    """One line for each model, folded, in a raw string: a bound is its value alone."""
    rounds = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    print("// Made by tools/workload_rounds.py rules from tests/data/checker_constants.json. Not\n"
          "// to be edited.\n#include \"rulebook/inference.h\"\n\nnamespace assay::rulebook {\n"
          "namespace {\n\nconstexpr std::string_view kRounds = R\"json({")
    for version in sorted(set(rounds) - {"v4.1"}):
        one = rounds[version]
        print(f'"{version}": {{"seeds":\n{folded(one["seeds"])},\n "names":')
        print(folded(one["names"]) + ', "models": {')
        lines = []
        for name, model in one["models"].items():
            for bound in ("at_least", "at_most"):
                model[bound] = values(model[bound])
            lines.append(f'"{name}":\n{folded(model)}')
        print(",\n".join(lines) + ("}}," if version != max(rounds) else "}}"))
    print('})json";\n\n}  // namespace\n\n'
          "std::string_view inference_rounds_json() { return kRounds; }\n\n"
          "}  // namespace assay::rulebook")


def values(bounds):
    return {name: values(one) if isinstance(one, dict) else one[0]
            for name, one in bounds.items()}


def folded(value):
    return textwrap.fill(json.dumps(value), 98, initial_indent=" ", subsequent_indent=" ",
                         break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    {"extract": lambda: extract(sys.argv[2]), "write": write, "rules": rules}[sys.argv[1]]()
