"""A program in the place of an endpoint: the example as it stands, and programs with faults."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = f"program:{sys.executable} {ROOT}/examples/plugin/endpoint.py"


@pytest.fixture
def measure(assay, tmp_path):
    def go(program, *flags, code=0, env=None):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--endpoint", program, "--model", "m", "--report-dir", folder,
                     "--quiet", "--json", "--allow-client-limited", *flags, code=code, env=env)
        return (json.loads(done.out) if done.out else None), folder, done.err

    return go


def test_the_example_is_measured_as_an_endpoint_is(assay, measure):
    summary, folder, _ = measure(EXAMPLE, "--concurrency", 4, "--samples", 24, "--isl", 30,
                                 "--osl", 12)
    assert summary["n_samples_completed"] == 24
    assert summary["output_sequence_lengths"]["total"] == 24 * 12
    assert summary["ttft"]["min"] > 0 and "percentiles" in summary["tpot"]
    assert summary["finish_reason_counts"]["stop"] == 24
    assay("verify", folder)


def faulty(tmp_path, body):
    path = tmp_path / "faulty.py"
    path.write_text("import json, sys\nprint(json.dumps({'ready': True}), flush=True)\n"
                    "for line in sys.stdin:\n    n = json.loads(line)['query']\n"
                    + "".join(f"    {one}\n" for one in body))
    return f"program:{sys.executable} {path}"


@pytest.mark.parametrize("body, outcome, words", [
    (["sys.exit(3)"], "reset", "the program ended with exit code 3"),
    (["print('oops', flush=True)"], "bad_reply", "no JSON object: oops"),
    (["print(json.dumps({'query': n, 'error': 'no memory'}), flush=True)"], "stream_error",
     "no memory"),
])
def test_faults_of_a_program_are_named(measure, tmp_path, body, outcome, words):
    summary, _, _ = measure(faulty(tmp_path, body), "--samples", 2, code=7)
    (failure,) = summary["assay"]["failures"]
    assert (failure["outcome"], failure["count"]) == (outcome, 2)
    assert words in failure["examples"][0]["detail"]


def test_a_program_that_does_not_begin_leaves_no_run(measure, tmp_path):
    _, folder, said = measure("program:exit 4", "--samples", 2, code=3)
    assert "ended with exit code 4 before it was ready" in said
    assert not list(folder.rglob("*.alog"))
    _, _, said = measure("program: ", "--samples", 2, code=2)
    assert "names no program" in said


def test_it_is_fenced_and_refused_where_it_cannot_be(measure, tmp_path):
    _, _, said = measure(EXAMPLE, "--samples", 2, code=2, env={"ASSAY_NO_PROGRAMS": "1"})
    assert "ASSAY_NO_PROGRAMS is set" in said
    rows = tmp_path / "x.jsonl"
    rows.write_text(json.dumps({"inputs": [{"name": "a", "shape": [1], "datatype": "INT64",
                                            "data": [1]}]}) + "\n")
    _, _, said = measure(EXAMPLE, "--samples", 2, "--api-type", "kserve", "--dataset", rows,
                         code=2)
    assert "a program's lines are JSON" in said


ROWS = f"program:{sys.executable} {ROOT}/examples/plugin/dataset.py"


def test_the_examples_of_a_data_set_and_a_scorer_work_together(assay, endpoint, tmp_path):
    rows = subprocess.run([sys.executable, ROOT / "examples/plugin/dataset.py", "20"],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    asked = [json.loads(row) for row in rows[:-1]]
    assert json.loads(rows[-1]) == {"end": True}
    # An endpoint that knows every second sum.
    book = tmp_path / "answers.jsonl"
    book.write_text("".join(json.dumps({"prompt": row["prompt"], "answer": f"It is {row['sum']}."})
                            + "\n" for row in asked[::2]))
    folder = tmp_path / "run"
    summary = assay("run", "--endpoint", endpoint("--answers", book).url, "--model", "m",
                    "--dataset", f"{ROWS} 20", "--passes", 1, "--keep-text", "on",
                    "--report-dir", folder, "--quiet", "--json", "--allow-client-limited").json()
    assert summary["n_samples_completed"] == 20
    extras = {"command": [sys.executable, f"{ROOT}/examples/plugin/scorer.py", "{replies}",
                          "{result}"], "jail": False}
    said = assay("score", folder, "--scorer", "external", "--extras", json.dumps(extras),
                 "--json").json()
    (entry,) = said["accuracy_scores"]
    assert entry["score"] == 0.5
    assert entry["uncertainty"]["score"]["samples"] == 20


def test_rows_that_are_not_whole_begin_no_run(assay, endpoint, tmp_path):
    folder = tmp_path / "run"
    said = assay("run", "--endpoint", endpoint().url, "--model", "m", "--report-dir", folder,
                 "--dataset", f"{ROWS} many", code=2)
    assert "ValueError: invalid literal" in said.err
    assert not folder.exists()
    agent = assay("run", "--endpoint", endpoint().url, "--model", "m", "--report-dir", folder,
                  "--dataset", f"{ROWS} 3", env={"ASSAY_NO_PROGRAMS": "1"}, code=2)
    assert "--dataset program:…: ASSAY_NO_PROGRAMS is set" in agent.err
