"""`assay check --suite inference` on a small valid tree and on named damages to it, against the
verdicts of the official submission checker, which tools/inference_verdicts.py recorded."""

import hashlib
import json
import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import inference_tree  # noqa: E402

OFFICIAL = json.loads((ROOT / "tests/data/inference_verdicts.json").read_text(encoding="utf-8"))
# Where ours is the stricter one, with the reason.
STRICTER = {
    "invalid": "the checker reads result_validity and does not act on it",
    "interactive_ttft": "the log's scenario is Server, so the checker takes Server's wider limits",
}


@pytest.fixture(scope="session", name="tree")
def fixture_tree(tmp_path_factory):
    return inference_tree.write(tmp_path_factory.mktemp("inference") / "valid")


def check(assay, root, *flags, code=0):
    return assay("check", "--suite", "inference", root, "--json", *flags, code=code)


def test_a_valid_tree_is_clean(assay, tree):
    report = check(assay, tree, "--strict").json()
    assert OFFICIAL["verdicts"][""] == 0
    assert report["clean"] and report["results"] == []
    assert (report["systems"], report["edition"]) == (4, "v6.1")
    asked = {rule["rule"] for rule in report["rules"] if rule["asked"]}
    assert {rule["rule"] for rule in report["rules"]} - asked == {
        "inf-endpoints-form", "inf-accuracy-files"}


@pytest.mark.parametrize("name", inference_tree.DAMAGES)
def test_a_damage_has_the_official_checkers_verdict_and_a_rule_names_it(assay, tree, tmp_path,
                                                                         name):
    damage, rule = inference_tree.DAMAGES[name]
    root = shutil.copytree(tree, tmp_path / "tree")
    damage(root)
    done = check(assay, root, code=None)
    errors = {one["rule"] for one in done.json()["results"] if one["severity"] == "error"}
    assert (rule in errors) if rule else not errors, errors
    official = OFFICIAL["verdicts"][name]
    assert (done.code != 0) == (official != 0 or name in STRICTER)
    assert not (official and name in STRICTER)


def test_each_round_has_its_own_figures_and_layout(assay, tmp_path):
    tree = inference_tree.write(tmp_path / "tree")
    found = {one["rule"] for one in check(assay, tree, "--edition", "v6.0", code=None).json()[
        "results"]}
    assert found == {"inf-seeds"}
    old = {one["rule"] for one in check(assay, tree, "--edition", "v5.1", code=None).json()[
        "results"]}
    assert {"inf-code", "inf-measurements", "inf-model", "inf-seeds"} <= old


def test_one_suites_edition_and_flags_are_not_the_others(assay, tmp_path):
    for flags, words in [(("--edition", "v6.1"), "add --suite inference"),
                         (("--suite", "inference", "--edition", "v1.0"), "MLPerf Endpoints"),
                         (("--suite", "inference", "--no-review"), "--no-review"),
                         (("--submitter", "Me"), "--submitter")]:
        done = assay("check", tmp_path, *flags, code=None)
        assert done.code == 2 and words in done.err, (flags, done.err)
    done = check(assay, tmp_path, code=None)
    assert done.code == 2  # a folder without results


def test_the_rules_are_listed(assay):
    assert "`inf-seeds`" in assay("check", "--suite", "inference", "--list").out
    assert "inf-" not in assay("check", "--list").out


def plan_of(tree, folder):
    """A plan that packs the tree's own logs again: accuracy logs of some length, without a hash."""
    systems = {}
    for name, (kind, models) in inference_tree.PLAN["closed"].items():
        results = {}
        for model, scenarios in models.items():
            for scenario in scenarios:
                at = tree / "closed/Invented/results" / name / model / scenario
                accuracy = shutil.copytree(at / "accuracy", folder / name / model / scenario)
                (accuracy / "assay").mkdir()  # where a test in a program may keep its events
                (accuracy / "mlperf_log_accuracy.json").write_text("[\n" + "1,\n" * 9000 + "1]\n")
                text = (accuracy / "accuracy.txt").read_text().replace("hash=0a1b2c\n", "")
                (accuracy / "accuracy.txt").write_text(text.rstrip("\n"))
                tests = {}
                for test in inference_tree.ROUNDS["v6.1"]["models"][model].get("tests", []):
                    tests[test] = {"verdict": str(at / test)}
                    if test in ("TEST01", "TEST04"):
                        tests[test]["logs"] = str(at / test / "performance/run_1")
                results.setdefault(model, {})[scenario] = {
                    "performance": str(at / "performance/run_1"), "accuracy": str(accuracy),
                    "measurements": str(at / "measurements.json"), "tests": tests,
                    "user_conf": str(at / "user.conf"), "readme": str(at / "README.md")}
        description = json.loads((tree / f"closed/Invented/systems/{name}.json").read_text())
        description["submitter"] = "filled in"
        systems[name] = {"description": description, "results": results}
    return {"division": "closed", "submitter": "Invented",
            "src": str(tree / "closed/Invented/src"), "systems": systems}


def test_a_packed_tree_is_clean_and_its_accuracy_logs_are_truncated(assay, tree, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps(plan_of(tree, tmp_path / "logs")))
    out = tmp_path / "submission"
    packed = assay("pack", "--suite", "inference", plan, "--out", out, "--json").json()
    assert (packed["systems"], packed["results"]) == (2, 12)
    report = check(assay, out, "--strict").json()
    assert (report["points"], report["results"]) == (12, [])
    accuracy = out / "closed/Invented/results/server/llama3.1-8b/Offline/accuracy"
    whole = ("[\n" + "1,\n" * 9000 + "1]\n").encode()
    kept = (accuracy / "mlperf_log_accuracy.json").read_bytes()
    assert kept == whole[:4096] + b"\n\n...\n\n" + whole[-4096:]
    assert (accuracy / "accuracy.txt").read_text().endswith(
        f"\nhash={hashlib.sha256(whole).hexdigest()}\n")
    done = assay("pack", "--suite", "inference", plan, "--out", out, code=None)
    assert done.code == 2 and "exists already" in done.err


@pytest.mark.parametrize("change, words", [
    (lambda plan: plan.update(division="sealed"), "closed, open or network"),
    (lambda plan: plan.update(submitter="../me"), "submitter"),
    (lambda plan: plan.update(sorce="x"), 'unknown key "sorce"'),
    (lambda plan: plan["systems"]["box"]["results"]["resnet"]["Offline"].pop("accuracy"),
     "accuracy: needed"),
    (lambda plan: plan["systems"]["box"]["results"]["resnet"]["Offline"].update(readme="none"),
     "no such file or folder")])
def test_a_plan_that_cannot_be_packed_is_named_and_leaves_nothing(assay, tree, tmp_path, change,
                                                                  words):
    plan = plan_of(tree, tmp_path / "logs")
    change(plan)
    file = tmp_path / "plan.yaml"
    file.write_text(json.dumps(plan, indent=1))
    done = assay("pack", "--suite", "inference", file, "--out", tmp_path / "out", code=None)
    assert done.code == 2 and words in done.err, done.err
    assert not list(tmp_path.glob("out*"))


def test_a_tree_is_imported_with_a_point_for_each_result(assay, tree, tmp_path):
    store = tmp_path / "store.db"
    counts = assay("import", tree, "--store", store, "--json").json()
    assert (counts["points"], counts["points_new"], counts["notes"]) == (14, 14, 0)
    again = assay("import", tree, "--store", store, "--json").json()
    assert (again["points_new"], again["points_changed"]) == (0, 0)


def test_a_tree_is_packed_from_a_run_over_a_network(assay, endpoint, tree, tmp_path):
    conf = tmp_path / "user.conf"
    conf.write_text("*.*.mode = 0\n*.*.use_token_latencies = 1\n*.Offline.min_duration = 1\n"
                    "*.Offline.min_query_count = 40\n")
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"prompt": "text {i}", "answer": "A"}}\n' for i in range(30)))
    scored = ",".join([f"acc:{rows}", "accuracy_config.eval_method=rouge",
                       "accuracy_config.extractor=identity_extractor",
                       "accuracy_config.ground_truth=answer"])
    run = tmp_path / "run"
    assay("run", "--scenario", "offline", "--config", conf, "--dataset", f"perf:{rows}",
          "--dataset", scored, "--endpoint", endpoint("--ttft", "2ms", "--osl", 4).url, "--model",
          "m", "--report-dir", run, "--quiet", "--allow-client-limited")
    assay("verify", run)
    entries = json.loads((run / "accuracy/mlperf_log_accuracy.json").read_text())
    assert sorted(entry["qsl_idx"] for entry in entries) == list(range(30))
    assert all(bytes.fromhex(entry["data"]).decode() for entry in entries)
    plan = plan_of(tree, tmp_path / "logs")
    name, system = next(iter(plan["systems"].items()))
    result = next(iter(system["results"].values()))["Offline"]
    result |= {"performance": str(run), "accuracy": str(run), "tests": {}}
    plan["systems"] = {name: {**system, "results": {"llama3.1-8b": {"Offline": result}}}}
    (tmp_path / "plan.yaml").write_text(json.dumps(plan))
    out = tmp_path / "submission"
    assay("pack", "--suite", "inference", tmp_path / "plan.yaml", "--out", out)
    found = {one["rule"] for one in check(assay, out, "--strict", code=None).json()["results"]}
    # What a short run of thirty rows lacks, and nothing that its logs lack.
    assert {"inf-duration", "inf-accuracy-samples", "inf-performance-samples"} <= found
    whole = {"inf-performance-log", "inf-metric", "inf-result-valid", "inf-seeds",
             "inf-summary-log", "inf-loadgen-errors", "inf-accuracy-text", "inf-accuracy-json",
             "inf-accuracy-hash", "inf-accuracy-log"}
    assert found & whole == set()
    text = next(out.rglob("accuracy.txt")).read_text()
    assert "'rouge1': '" in text and "\nhash=" in text
