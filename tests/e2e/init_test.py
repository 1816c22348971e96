"""`assay init`: each config that it writes is read, and does what it says."""

import json

import pytest

KINDS = ["accuracy", "answers", "curve", "rate", "run", "system"]


def test_the_list_says_what_each_is_for(assay):
    rows = json.loads(assay("init", "--json").out)
    assert [row["kind"] for row in rows] == KINDS
    assert all(len(row["purpose"]) > 20 for row in rows)
    assert [line.split()[0] for line in assay("init").out.splitlines()] == KINDS


@pytest.mark.parametrize("kind", ["run", "rate"])
def test_a_run_config_measures(assay, endpoint, tmp_path, kind):
    server = endpoint("--osl", "max")
    assay("init", kind, "--out", tmp_path / "it.yaml")
    done = assay("run", "--config", tmp_path / "it.yaml", "--endpoint", server.url, "--samples", 8,
                 "--report-dir", tmp_path / "run", "--quiet", "--json", "--allow-client-limited")
    assert json.loads(done.out)["n_samples_completed"] == 8


def test_an_accuracy_config_scores(assay, endpoint, tmp_path):
    server = endpoint("--osl", "max")
    (tmp_path / "questions.jsonl").write_text('{"prompt": "A or B?", "ground_truth": "B"}\n' * 3)
    assay("init", "accuracy", "--out", tmp_path / "a.yaml")
    assay("run", "--config", "a.yaml", "--endpoint", server.url, "--samples", 8, "--report-dir",
          "run", "--quiet", "--json", "--allow-client-limited", cwd=tmp_path)
    assert (tmp_path / "run/accuracy/accuracy_results.json").exists()


def test_a_curve_config_is_planned_and_a_system_simulated(assay, tmp_path):
    assay("init", "curve", "--out", tmp_path / "curve.yaml")
    assay("curve", "--config", tmp_path / "curve.yaml", "--max-concurrency", 64, "--dry-run")
    assay("init", "system", "--out", tmp_path / "system.yaml")
    done = assay("simulate", "--scenario", tmp_path / "system.yaml", "--isl", 256, "--osl", 64,
                 "--concurrency", "1,8", "--json")
    assert len(json.loads(done.out)["points"]) == 2


def test_nothing_is_overwritten_and_a_wrong_kind_is_named(assay, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("mine")
    assert "--force" in assay("init", "run", "--out", file, code=2).err
    assert file.read_text() == "mine"
    assay("init", "run", "--out", file, "--force")
    assert 'did you mean "run"' in assay("init", "runn", code=2).err
