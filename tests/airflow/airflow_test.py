"""`assay pipeline plan --export airflow`: the real Airflow parses the DAG, and runs it to what our
own run makes. In an environment of its own (`./assay.sh test airflow`)."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

PIPELINE = """
steps:
  - {id: setup, type: process, command: [sh, -c, "echo setup > {work}/setup"], next: clean}
  - id: clean
    type: process
    command: [cp, "raw/{partition}", "{work}/{partition}.clean"]
    outputs: ["{work}/{partition}.clean"]
    partition: true
    limit: 2
    next: {if: [{condition: good, target: keep}], else: drop}
  - id: keep
    type: process
    command: [cp, "{work}/{partition}.clean", "{work}/{partition}.kept"]
    partition: true
    next: join
  - {id: drop, type: process, command: [touch, "{work}/{partition}.dropped"], partition: true,
     next: join}
  - id: join
    type: process
    command: [sh, -c, "cat {work}/*.kept > {work}/all; cd {work}; ls *.dropped >> all"]
    outputs: ["{work}/all"]
    next: look
  - {id: look, type: wait_for_file, file: "*.reviewed", count: 1, next: second}
  - {id: second, type: process, command: [cp, a.reviewed, "{work}/{partition}.second"],
     partition: true, next: end}
  - {id: end, type: process, command: [sh, -c, "cat {work}/*.second >> {work}/all"]}
conditions: [{id: good, type: json, file: "raw/{partition}", pointer: /score, at_least: 0.5}]
partition_def: {type: files, path: "raw/*"}
"""

REVIEW = """
steps:
  - {id: first, type: process, command: ["true"], partition: true, next: review}
  - id: review
    type: dummy
    partition: true
    next: {if: [{condition: good, target: agree}, {condition: bad, target: back}], wait: 5}
  - {id: back, type: process, command: ["true"], partition: true, next: first}
  - {id: agree, type: manual_approval, next: last}
  - {id: last, type: dummy}
conditions: [{id: good, type: file, file: g}, {id: bad, type: file, file: b}]
partition_def: {type: list, items: [p, "q/r"]}
"""


def airflow(home, *args):
    env = {**os.environ, "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "false"}
    program = pathlib.Path(sys.executable).with_name("airflow")
    return subprocess.run([program, *args], env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home/dags").mkdir(parents=True)
    made = airflow(tmp_path / "home", "db", "migrate")
    assert made.returncode == 0, made.stderr
    return tmp_path / "home"


def written(folder):
    return {p.name: p.read_text() for p in folder.iterdir()}


def test_airflow_runs_the_exported_dag_to_the_same_outputs(assay, home, tmp_path):
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "raw").mkdir()
    for name, score in (("s1", 0.2), ("s2", 0.8), ("s3", 0.6)):
        (tmp_path / "raw" / name).write_text(json.dumps({"score": score}))
    (tmp_path / "a.reviewed").write_text("reviewed\n")
    assay("pipeline", "run", tmp_path / "p.yaml", "--work", tmp_path / "own")
    dag = assay("pipeline", "plan", tmp_path / "p.yaml", "--work", tmp_path / "theirs",
                "--export", "airflow").out
    (home / "dags/p.py").write_text(dag)
    ran = airflow(home, "dags", "test", "-f", str(home / "dags/p.py"), "p")
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    own = written(tmp_path / "own/data")
    assert "s2.kept" in own and "s1.dropped" in own and "s2.dropped" not in own
    assert written(tmp_path / "theirs/data") == own


def test_airflow_parses_approvals_reviews_and_ways_back(assay, home, tmp_path):
    (tmp_path / "review.yaml").write_text(REVIEW)
    dag = assay("pipeline", "plan", tmp_path / "review.yaml", "--export", "airflow").out
    (home / "dags/review.py").write_text(dag)
    errors = airflow(home, "dags", "list-import-errors", "--local", "-o", "json")
    assert json.loads(errors.stdout[errors.stdout.index("["):].splitlines()[-1]) == []
    listed = airflow(home, "dags", "list", "--local")
    assert "review.py" in listed.stdout
