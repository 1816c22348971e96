"""`assay pipeline`: steps that prepare data, run, killed, resumed, approved, restarted."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
from unittest import mock

import pytest

from conftest import program

# Each step says in `ran` that it runs, and kills the runner when the file `kill_at` says so.
STEP = r"""
echo "$ASSAY_STEP/$ASSAY_PARTITION" >> ran
at=$(cat kill_at 2> /dev/null)
if [ -n "$at" ] && [ "$(wc -l < ran)" -ge "$at" ] && mv kill_at killed; then
  kill -9 "$PPID"
  while :; do :; done
fi
mkdir -p "$(dirname "$2")"
cat $1 > "$2"
"""

PIPELINE = """
steps:
  - id: ingest
    type: process
    command: [sh, step.sh, "{raw}/{partition}/in.txt", "{work}/{partition}/a"]
    inputs: ["{raw}/{partition}"]
    outputs: ["{work}/{partition}/a"]
    partition: true
    limit: 2
    next: clean
  - id: clean
    type: process
    command: [sh, step.sh, "{work}/{partition}/a", "{work}/{partition}/b"]
    outputs: ["{work}/{partition}/b"]
    partition: true
    next: merge
  - id: merge
    type: process
    command: [sh, step.sh, "{work}/*/b", "{work}/all"]
    outputs: ["{work}/all"]
inputs: {raw: raw}
partition_def: {type: folders, path: "{raw}/*"}
"""

# How many kills are tried, each at another process.
KILLS = int(os.environ.get("ASSAY_KILLS", "9"))
SUBJECTS = tuple(sorted(f"s{i}" for i in range(1, 1 + max(4, KILLS // 2))))
PROCESSES = 2 * len(SUBJECTS) + 1


@pytest.fixture
def site(tmp_path):
    (tmp_path / "step.sh").write_text(STEP)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    for subject in SUBJECTS:
        (tmp_path / "raw" / subject).mkdir(parents=True)
        (tmp_path / "raw" / subject / "in.txt").write_text(f"of {subject}\n")
    return tmp_path


def ran(folder):
    path = folder / "ran"
    return path.read_text().split() if path.exists() else []


def written(folder):
    data = folder / "p.work" / "data"
    return {str(p.relative_to(data)): p.read_text() for p in data.rglob("*") if p.is_file()}


def test_it_runs_once_and_then_only_what_changed(assay, site):
    first = assay("pipeline", "run", site / "p.yaml", "--json").json()
    assert first["execution_status"] == "done" and first["processes"] == PROCESSES
    assert written(site)["all"] == "".join(f"of {s}\n" for s in SUBJECTS)
    assert assay("pipeline", "run", site / "p.yaml", "--json").json()["processes"] == 0
    (site / "raw/s2/in.txt").write_text("changed\n")
    (site / "ran").unlink()
    assay("pipeline", "run", site / "p.yaml")
    assert ran(site) == ["ingest/s2", "clean/s2", "merge/"]
    assert "changed" in written(site)["all"]
    # A new subject runs its own steps and what joins all.
    (site / "raw/s5").mkdir()
    (site / "raw/s5/in.txt").write_text("of s5\n")
    (site / "ran").unlink()
    assay("pipeline", "run", site / "p.yaml")
    assert ran(site) == ["ingest/s5", "clean/s5", "merge/"]


@pytest.mark.parametrize("at", range(1, KILLS + 1))
def test_killed_at_any_process_it_goes_on_with_nothing_lost_and_nothing_doubled(assay, site, at):
    (site / "kill_at").write_text(str(at))
    assay("pipeline", "run", site / "p.yaml", "--jobs", 2, code=-signal.SIGKILL)
    done = assay("pipeline", "run", site / "p.yaml", "--json").json()
    assert done["execution_status"] == "done"
    assert written(site)["all"] == "".join(f"of {s}\n" for s in SUBJECTS)
    times = {name: ran(site).count(name) for name in ran(site)}
    assert len(times) == PROCESSES
    # Only those that were running at the kill, at most two, run a second time.
    assert max(times.values()) <= 2
    assert sum(times.values()) <= PROCESSES + 2
    assert len([n for n in times.values() if n == 2]) >= 1
    records = [json.loads(line.split(" ", 1)[1])
               for line in (site / "p.work/journal").read_text().splitlines()]
    keys = [r["key"] for r in records if r["t"] == "done"]
    assert len(keys) == len(set(keys)) == PROCESSES


def test_what_a_killed_run_left_running_is_ended_before_anything_runs_again(assay, site):
    (site / "step.sh").write_text(
        'if [ ! -e again ]; then touch again; (exec tail -f /dev/null) & echo $! > left\n'
        'kill -9 "$PPID"; wait; fi\nmkdir -p "$(dirname "$2")"; cat $1 > "$2"\n')
    assay("pipeline", "run", site / "p.yaml", "--jobs", 1, code=-signal.SIGKILL)
    left = int((site / "left").read_text())
    done = assay("pipeline", "run", site / "p.yaml", "--json").json()
    assert done["execution_status"] == "done" and done["leftovers"] >= 1
    with pytest.raises(ProcessLookupError):
        # A process that waits for its parent to reap it is gone, too.
        state = pathlib.Path(f"/proc/{left}/stat")
        if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            raise ProcessLookupError
        os.kill(left, 0)


def test_a_changed_journal_is_refused_and_a_torn_one_goes_on(assay, site):
    assay("pipeline", "run", site / "p.yaml")
    journal = site / "p.work/journal"
    text = journal.read_text()
    journal.write_text(text[:-7])
    assay("pipeline", "run", site / "p.yaml")
    assert ran(site).count("merge/") == 2, "the cut line was that it is done"
    journal.write_text(text.replace("ingest", "digest", 1))
    refused = assay("pipeline", "run", site / "p.yaml", code=None)
    assert refused.code == 2 and "line 1: its checksum is another" in refused.err


def test_a_failed_step_says_why_and_stops_only_what_follows(assay, site):
    (site / "step.sh").write_text(
        STEP + '\n[ "$ASSAY_PARTITION" != s3 ] || { echo broken; exit 4; }\n')
    failed = assay("pipeline", "run", site / "p.yaml", code=1)
    assert "failed: ingest of s3: exit 4" in failed.err
    assert "clean                       3 of 4 done" in failed.out
    assert "broken" in assay("pipeline", "logs", site / "p.yaml", "ingest", "--partition", "s3").out
    status = assay("pipeline", "status", site / "p.yaml").out
    assert status.startswith("failure\n") and "failed: ingest of s3, exit 4" in status
    progress = (site / "p.work/progress.json").read_text()
    assert json.loads(progress)["execution_status"] == "failure"
    assert not any(s in progress for s in SUBJECTS), "counts only: no subject's name"


def test_a_program_that_is_not_there_an_output_that_is_not_made_and_a_time_limit(assay, tmp_path):
    (tmp_path / "p.yaml").write_text("""
steps:
  - {id: zero, type: dummy, next: [one, two, three]}
  - {id: one, type: process, command: [no-such-program-here], next: never}
  - {id: two, type: process, command: ["true"], outputs: ["{work}/not-made"], next: never}
  - {id: three, type: process, command: [tail, -f, /dev/null], timeout: 100ms, next: never}
  - {id: never, type: dummy}
""")
    failed = assay("pipeline", "run", tmp_path / "p.yaml", code=1)
    assert "failed: one: exit 127" in failed.err
    assert "failed: two: it ended well, but its output is missing" in failed.err
    assert "failed: three: ran longer than 0.1 s" in failed.err
    assert "cannot start 'no-such-program-here'" in assay(
        "pipeline", "logs", tmp_path / "p.yaml", "one").out


REVIEW = """
steps:
  - {id: make, type: process, command: [sh, -c, "echo made >> made"], next: look}
  - id: look
    type: process
    command: ["true"]
    next:
      if: [{condition: good, target: confirm}, {condition: bad, target: back}]
      wait: 50ms
  - {id: back, type: process, command: [rm, bad.txt], next: make}
  - {id: confirm, type: manual_approval, next: reviewed}
  - {id: reviewed, type: wait_for_file, file: "*.reviewed", count: 1, next: end}
  - {id: end, type: process, command: [cp, a.reviewed, "{work}/end"], outputs: ["{work}/end"]}
conditions:
  - {id: good, type: json, file: verdict.json, pointer: /scores/0, at_least: 0.5}
  - {id: bad, type: file, file: bad.txt}
"""


def test_conditions_a_way_back_an_approval_and_a_reviewed_file(assay, tmp_path):
    (tmp_path / "p.yaml").write_text(REVIEW)
    (tmp_path / "bad.txt").write_text("x")

    def run():
        return assay("pipeline", "run", tmp_path / "p.yaml", "--no-wait", "--json").json()

    assert run()["execution_status"] == "stopped"
    assert (tmp_path / "made").read_text() == "made\nmade\n", "the loop went round once"
    (tmp_path / "verdict.json").write_text('{"scores": [0.5]}')
    run()
    early = assay("pipeline", "approve", tmp_path / "p.yaml", "reviewed", code=2)
    assert "no approval is waited for there" in early.err
    assert "waiting: confirm, approval" in assay("pipeline", "status", tmp_path / "p.yaml").out
    assay("pipeline", "reject", tmp_path / "p.yaml", "confirm", "--by", "ann")
    refused = assay("pipeline", "run", tmp_path / "p.yaml", "--no-wait", code=1)
    assert "confirm: rejected by ann" in refused.err
    assay("pipeline", "approve", tmp_path / "p.yaml", "confirm", "--by", "ann")
    (tmp_path / "a.reviewed").write_text("first")
    assert run()["execution_status"] == "done"
    assert (tmp_path / "p.work/data/end").read_text() == "first"
    assert run()["processes"] == 0
    # Another reviewed file is another input of what follows it.
    (tmp_path / "a.reviewed").write_text("second")
    assert run()["processes"] == 1
    assert (tmp_path / "p.work/data/end").read_text() == "second"
    assert (tmp_path / "made").read_text() == "made\nmade\n"


def test_watched_it_says_how_far_it_is_on_standard_error(assay, tmp_path):
    (tmp_path / "p.yaml").write_text("""
steps:
  - {id: first, type: dummy, next: ask}
  - {id: ask, type: manual_approval, next: end}
  - {id: end, type: dummy}
""")
    waits = assay("pipeline", "run", tmp_path / "p.yaml", "--watch", "--no-wait")
    assert "ask 0 of 1, 1 waiting\n" in waits.err
    assay("pipeline", "approve", tmp_path / "p.yaml", "ask")
    done = assay("pipeline", "run", tmp_path / "p.yaml", "--watch")
    assert done.err.splitlines()[-1] == "done"


def test_an_approval_reaches_a_run_that_waits_for_it(assay, tmp_path):
    (tmp_path / "p.yaml").write_text(
        "steps: [{id: ask, type: manual_approval, next: end}, {id: end, type: dummy}]\n")
    # The step that waits is shown before the run begins to wait.
    assay("pipeline", "run", tmp_path / "p.yaml", "--no-wait")
    waits = subprocess.Popen([program(), "pipeline", "run", tmp_path / "p.yaml"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assay("pipeline", "approve", tmp_path / "p.yaml", "ask")
        out, err = waits.communicate(timeout=60)
        assert waits.returncode == 0, err
        assert "end                         1 of 1 done" in out
    finally:
        waits.kill()
        waits.wait()


def test_an_interrupt_ends_the_steps_and_leaves_none(assay, tmp_path):
    (tmp_path / "p.yaml").write_text("""
steps:
  - {id: stay, type: process, command: [sh, -c, "kill -INT $PPID; exec tail -f /dev/null"]}
""")
    stopped = assay("pipeline", "run", tmp_path / "p.yaml", code=130)
    assert "failed: stay: the run was stopped" in stopped.err
    assert assay("pipeline", "status", tmp_path / "p.yaml", "--json").json()["failed"]


def test_one_run_at_a_time_and_restart_by_name(assay, site):
    (site / "nested.yaml").write_text(f"""
steps:
  - {{id: nest, type: process, command: ["{program()}", pipeline, run, nested.yaml]}}
""")
    assay("pipeline", "run", site / "nested.yaml", code=1)
    assert "in use by another run" in assay("pipeline", "logs", site / "nested.yaml", "nest").out
    assay("pipeline", "run", site / "p.yaml")
    (site / "ran").unlink()
    assay("pipeline", "restart", site / "p.yaml", "ingest", "--partition", "s1")
    assay("pipeline", "run", site / "p.yaml")
    assert ran(site) == ["ingest/s1"], "its output is as it was, so nothing follows"
    (site / "ran").unlink()
    assay("pipeline", "restart", site / "p.yaml", "clean", "--following")
    assay("pipeline", "run", site / "p.yaml")
    assert sorted(ran(site)) == sorted([f"clean/{s}" for s in SUBJECTS] + ["merge/"])
    wrong = assay("pipeline", "restart", site / "p.yaml", "cleen", code=2)
    assert "did you mean 'clean'?" in wrong.err


CONTAINER = """
steps:
  - id: prep
    type: container
    image: example/prep:1
    command: prepare --fast
    partition: true
    mounts:
      input_volumes: {data_path: {mount_path: /in, type: directory}}
      output_volumes: {output_path: {mount_path: /out, type: directory}}
    next: sum
  - id: sum
    type: container
    image: example/prep:1
    command: [sum]
    mounts:
      input_volumes:
        rows: {mount_path: /in, type: directory, from: {step: prep, mount: output_path}}
      output_volumes: {statistics_file: {mount_path: /out/statistics.yaml, type: file}}
partition_def: {type: list, items: [s1, s2]}
"""

STAND_IN = r"""
if [ "$1" = prepare ]; then cp "$ASSAY_MOUNT_data_path/$4" "$ASSAY_MOUNT_output_path/$4"
else cat "$ASSAY_MOUNT_rows"/* > "$ASSAY_MOUNT_statistics_file"; fi
"""


def test_a_container_runs_by_its_engine_or_by_a_stand_in(assay, tmp_path):
    (tmp_path / "p.yaml").write_text(CONTAINER)
    (tmp_path / "raw").mkdir()
    for name in ("s1", "s2"):
        (tmp_path / "raw" / name).write_text(name + "\n")
    no_input = assay("pipeline", "run", tmp_path / "p.yaml", code=2)
    assert "--input data_path=PATH" in no_input.err
    given = ("--input", f"data_path={tmp_path / 'raw'}")
    neither = assay("pipeline", "run", tmp_path / "p.yaml", *given, "--engine", "none", code=2)
    assert "a stand-in" in neither.err
    # An engine that writes down what it is asked for.
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "podman").write_text(
        '#!/bin/sh\nfor i in "$@"; do printf "%s\\n" "$i"; done >> asked\n')
    (tools / "podman").chmod(0o755)
    assay("pipeline", "run", tmp_path / "p.yaml", *given, "--engine", "podman", "--jobs", 1,
          env={"PATH": f"{tools}:{os.environ['PATH']}"})
    asked = (tmp_path / "asked").read_text().split("\n")
    work = tmp_path / "p.work/data"
    assert asked[:3] == ["run", "--rm", "--name"]
    assert asked[4:7] == ["--network", "none", "--userns=keep-id"]
    assert asked[7:16] == ["--volume", f"{tmp_path / 'raw'}:/in:ro", "--volume",
                           f"{work / 'output_path'}:/out", "example/prep:1", "prepare", "--fast",
                           "--partition", "s1"]
    # The stand-in is another recipe, so both steps run again.
    (tmp_path / "stand_in.sh").write_text(STAND_IN)
    (tmp_path / "site.yaml").write_text('images: {"example/prep:1": sh stand_in.sh}\n')
    assay("pipeline", "run", tmp_path / "p.yaml", *given, "--site", tmp_path / "site.yaml")
    assert (work / "statistics_file").read_text() == "s1\ns2\n"


def test_python_of_the_author_is_refused_before_anything_runs(assay, tmp_path):
    (tmp_path / "p.yaml").write_text("""
steps:
  - {id: a, type: process, command: [touch, ran], next: {if: [{condition: c, target: b}]}}
  - {id: b, type: dummy}
conditions: [{id: c, type: function, function_name: conditions.c}]
""")
    refused = assay("pipeline", "run", tmp_path / "p.yaml", code=2)
    assert "is Python of the pipeline's author" in refused.err
    assert not (tmp_path / "ran").exists()


def test_an_exported_dag_is_python_that_runs_steps_and_asks_conditions_as_we_do(assay, site):
    text = PIPELINE.replace("next: merge", """
    next: {if: [{condition: good, target: merge}, {condition: odd, target: merge}], else: merge}
""") + """conditions:
  - {id: good, type: json, file: "raw/{partition}/v.json", pointer: "/a~1b/0", at_least: 2}
  - {id: odd, type: file, file: "raw/{partition}/*.odd", count: 1}
"""
    (site / "p.yaml").write_text(text)
    dag = assay("pipeline", "plan", site / "p.yaml", "--export", "airflow").out
    names = ("airflow", "airflow.sdk", "airflow.sdk.exceptions", "airflow.providers",
             "airflow.providers.standard", "airflow.providers.standard.operators",
             "airflow.providers.standard.operators.empty")
    space = {"__name__": "dag"}
    stubs = {name: mock.MagicMock() for name in names}
    stubs["airflow.sdk"].task_group = lambda group_id: lambda f: mock.Mock(expand=f)
    with mock.patch.dict(sys.modules, stubs):
        exec(compile(dag, "p.py", "exec"), space)
    assert space["PARTITIONS"] == list(SUBJECTS)
    space["run_step"]("ingest", "s2")
    assert (site / "p.work/data/s2/a").read_text() == "of s2\n"
    good, odd = (branch["condition"] for branch in space["STEPS"]["clean"]["branches"])
    assert not space["holds"](good, "s1")
    for value, holds in (("2", True), ("1.5", False), ("true", False), ('"2"', False)):
        (site / "raw/s1/v.json").write_text('{"a/b": [%s]}' % value)
        assert space["holds"](good, "s1") == holds
    assert not space["holds"](odd, "s1")
    (site / "raw/s1/x.odd").touch()
    assert space["holds"](odd, "s1")
    (site / "raw/s1/y.odd").touch()
    assert not space["holds"](odd, "s1")


def test_python_of_the_author_is_not_exported(assay, tmp_path):
    (tmp_path / "p.yaml").write_text("""
steps:
  - {id: a, type: dummy, next: {if: [{condition: c, target: b}]}}
  - {id: b, type: dummy}
conditions: [{id: c, type: function, function_name: conditions.c}]
""")
    refused = assay("pipeline", "plan", tmp_path / "p.yaml", "--export", "airflow", code=2)
    assert "Python of the author is not exported" in refused.err


CODE = """
steps:
  - id: look
    type: dummy
    partition: true
    mounts:
      input_volumes: {data_path: {mount_path: /in, type: directory}}
      output_volumes: {output_path: {mount_path: /out, type: directory}}
    next: {if: [{condition: reviewed, target: end}], wait: 50ms}
  - {id: end, type: dummy}
conditions: [{id: reviewed, type: function, function_name: conditions.reviewed}]
partition_def: {type: function, function_name: conditions.subjects}
inputs: {data_path: raw}
"""

AUTHOR = """
import os, pathlib, socket

def subjects(state):
    print("what is printed is not an answer")
    return [name + "/t1" for name in os.listdir(state.host_input_data_path)]

def reviewed(state):
    own = pathlib.Path(__file__).parent
    for attempt in (lambda: (own / "escaped").write_text("x"),
                    lambda: (pathlib.Path(state.host_input_data_path) / "x").mkdir(),
                    lambda: socket.create_connection(
                        ("127.0.0.1", int((own / "port").read_text())), 5)):
        try:
            attempt()
            return False
        except OSError:
            pass
    return open(own / (state.running_subject.replace("/", "_") + ".ok")).read() == "yes"
"""


def test_python_of_the_author_runs_in_a_jail_that_lets_nothing_out(assay, tmp_path):
    (tmp_path / "p.yaml").write_text(CODE)
    (tmp_path / "conditions.py").write_text(AUTHOR)
    for name in ("p1", "p2"):
        (tmp_path / "raw" / name).mkdir(parents=True)
    (tmp_path / "p1_t1.ok").write_text("yes")
    with socket.create_server(("127.0.0.1", 0)) as server:
        (tmp_path / "port").write_text(str(server.getsockname()[1]))
        first = assay("pipeline", "run", tmp_path / "p.yaml", "--allow-code", "--no-wait")
        # p2's function raises: the file that it opens is not there. So it does not hold.
        assert "look                        1 of 2 done, 1 waiting" in first.out
        (tmp_path / "p2_t1.ok").write_text("yes")
        last = assay("pipeline", "run", tmp_path / "p.yaml", "--allow-code", "--no-wait")
        assert "end                         1 of 1 done" in last.out
    assert not (tmp_path / "escaped").exists() and not (tmp_path / "raw/x").exists()
    (tmp_path / "conditions.py").write_text("def subjects(state):\n    return ['../p']\n")
    out = assay("pipeline", "run", tmp_path / "p.yaml", "--allow-code", code=2)
    assert "can't be a partition's name" in out.err
    (tmp_path / "conditions.py").write_text("x = 1\n")
    missing = assay("pipeline", "run", tmp_path / "p.yaml", "--allow-code", code=2)
    assert "has no attribute 'subjects'" in missing.err
