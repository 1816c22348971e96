"""`assay check` and `assay regions`, as a submitter and a CI system use them."""

import json
import pathlib
import shutil
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CURVE = "results/Example_8x/gpt-oss-120b"


@pytest.fixture(name="tree")
def a_tree(tmp_path):
    """The golden tree, to be broken."""
    return pathlib.Path(shutil.copytree(ROOT / "tests/golden/submission", tmp_path / "tree"))


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_good_tree_is_clean_even_when_strict(assay, tree):
    assert "clean: 0 errors, 0 warnings" in assay("check", tree, "--strict").out


def test_a_finding_has_all_that_its_reader_needs(assay, tree):
    change(tree / CURVE / "r48/point.yaml", '"med_concurrency"', '"mid"')
    report = assay("check", tree, "--json", code=1).json()
    (finding,) = [one for one in report["results"] if one["severity"] == "error"]
    assert finding["rule"] == "region-declared"
    assert finding["path"] == f"{CURVE}/r48/point.yaml"
    assert finding["line"] == 2
    for key in ("message", "spec_ref", "found", "expected", "fix", "action"):
        assert finding[key]
    assert "point.yaml:2: error" in assay("check", tree, code=1).out


def test_a_warning_counts_only_when_strict(assay, tree):
    change(tree / CURVE / "r96/point.yaml", '"STEADY STATE"', '"drifting_up"')
    assay("check", tree)
    assay("check", tree, "--strict", code=1)


def test_sarif_and_junit_are_written_for_their_readers(assay, tree, tmp_path):
    change(tree / CURVE / "r96/result_summary.json", '"n_samples_failed": 0',
           '"n_samples_failed": 1')
    sarif = tmp_path / "check.sarif"
    assay("check", tree, "--output", "sarif", "--file", sarif, code=1)
    run = json.loads(sarif.read_text())["runs"][0]
    (result,) = [one for one in run["results"] if one["level"] == "error"]
    assert result["ruleId"] == "metric-consistency-accounting"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == f"{CURVE}/r96/result_summary.json"
    assert place["region"]["startLine"] > 0
    suite = xml.etree.ElementTree.fromstring(
        assay("check", tree, "--output", "junit", code=1).out)[0]
    (failed,) = [case for case in suite if case.find("failure") is not None]
    assert failed.get("name") == "metric-consistency-accounting"
    assert suite.get("failures") == "1"


def test_what_is_no_tree_is_bad_input(assay, tmp_path):
    assay("check", tmp_path / "nothing", code=2)
    assay("check", tmp_path, code=2)
    assay("check", tmp_path, "--edition", "v9", code=2)


def test_the_guide_has_the_rules_as_the_program_has_them(assay):
    guide = (ROOT / "docs/guide/check.md").read_text()
    assert guide.endswith(assay("check", "--list").out), "assay check --list, into the guide"


def test_regions_are_the_rules_own(assay):
    bands = assay("regions", 1024, 16, "--json").json()["regions"]
    assert [(band["region"], band["first"], band["last"]) for band in bands] == [
        ("low_latency", 1, 16), ("low_concurrency", 17, 26), ("med_concurrency", 27, 117),
        ("high_concurrency", 118, 1024), ("margin", 1025, 1127)]
    assert assay("regions", 100, 1, "--json").json()["regions"][-1]["last"] == 111
    assay("regions", 32, code=2)
