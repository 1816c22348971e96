#!/usr/bin/env python3
"""MedPerf's published pipelines, run by `assay pipeline` and by the plainest interpreter of them.

    tools/against_medperf.py --medperf DIR [--subjects N] [--kill]

DIR is a folder with the examples of mlcommons/medperf (its branch `airflow`; needs PyYAML). Their
files and their Python are used as they stand; each container is a stand-in that writes what it was
given. RANO's reviewer is played: first a brain mask is corrected, so that one subject goes back,
then everything is annotated, then the whole is approved. Every file that comes, and how often each
step ran for each subject, must be the same; with --kill the first run is killed on its way, and
only what ran then may have run twice. It prints a line for each and every difference; the exit code
is 1 where there is one.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = {"chestxray": "chestxray_tutorial/data_preparator_workflow/workflow.yaml",
            "HEMnet": "HEMnet/data_preparator/workflow.yaml",
            "RANO": "RANO/data_preparator_workflow/workflow.yaml",
            "RANO, dev": "RANO/data_preparator_workflow/workflow_dev.yaml"}
REVIEWS = ("tumor_extraction", "brain_mask")

# Run as: STAND_IN WORDS... [--partition P]; `table.json` beside it has each step's mounts.
STAND_IN = '''
import hashlib, json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
step, part = os.environ["ASSAY_STEP"], os.environ["ASSAY_PARTITION"]
with open(here / "ran", "a") as ran:
    ran.write(f"{step} {part or '-'}\\n")
table = json.loads((here / "table.json").read_text())
seen = hashlib.sha256(json.dumps([step, part, sys.argv[1:]]).encode())
def place(name):
    return pathlib.Path(os.environ["ASSAY_MOUNT_" + name])
for name, source in sorted(table[step]["in"].items()):
    path = place(name)
    if source is None:  # what a user gives
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        files = [p for p in files if not part or not path.is_dir() or part in str(p)]
        base = path
    else:
        base = path / source / part if part and table[source]["parts"] else path / source
        files = sorted(p for p in base.rglob("*") if p.is_file())
    for file in files:
        seen.update(str(file.relative_to(base)).encode() + file.read_bytes())
for name, kind in table[step]["out"].items():
    path = place(name)
    if kind == "directory":
        path = path / step / part / "made" if part else path / step / "made"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name + " " + seen.hexdigest())
if step == "manual_review":
    for review in ("tumor_extraction", "brain_mask"):
        (place("output_path") / "manual_review" / review / part / "finalized").mkdir(
            parents=True, exist_ok=True)
if step == "rollback_to_brain_extract":
    for file in (place("output_path") / "manual_review/brain_mask" / part / "finalized").iterdir():
        file.unlink()
'''


def targets_of(step):
    """([(condition, target)], the targets without a condition)."""
    following = step.get("next")
    if isinstance(following, dict):
        return [(one["condition"], one["target"]) for one in following["if"]], []
    return [], following if isinstance(following, list) else [following] if following else []


def is_partitioned(step):
    return bool(step.get("partition", step.get("per_subject", False)))


class Reviewer:
    """What a person does at a stop; True while something was left to do."""

    def __init__(self, data, subjects):
        self.data, self.subjects, self.times = data, subjects, 0

    def act(self):
        base = self.data / "output_path/manual_review"
        self.times += 1
        if self.times == 1:
            one = base / "brain_mask" / self.subjects[0] / "finalized/brainMask_fused.nii.gz"
            one.write_text("corrected")
        if self.times == 2:
            for subject in self.subjects:
                name = subject.replace("/", "_") + "_tumorMask_model_0.nii.gz"
                (base / "tumor_extraction" / subject / "finalized" / name).write_text("reviewed")
        return self.times <= 2

    def holds(self, condition, subject):
        base = self.data / "output_path/manual_review"
        kind, name = {"annotation_done": ("tumor_extraction", subject.replace("/", "_")
                                          + "_tumorMask_model_0.nii.gz"),
                      "brain_mask_changed": ("brain_mask", "brainMask_fused.nii.gz")}[condition]
        return [p.name for p in (base / kind / subject / "finalized").iterdir()] == [name]


def interpret(workflow, folder, place_of, subjects, reviewer):
    """Walks tokens (step, subject) one by one."""
    steps = {step["id"]: step for step in workflow["steps"]}
    arrived = collections.defaultdict(set)
    open_tokens, waiting = [(workflow["steps"][0]["id"], "")], []

    def run(step, part):
        if step["type"] != "container":
            return
        mounts = step.get("mounts", {})
        env = {**os.environ, "ASSAY_STEP": step["id"], "ASSAY_PARTITION": part}
        for side in ("input_volumes", "output_volumes"):
            for name, mount in mounts.get(side, {}).items():
                env["ASSAY_MOUNT_" + name] = str(place_of(name, mount))
        words = step["command"].split() + (["--partition", part] if part else [])
        subprocess.run([sys.executable, folder / "stand_in.py", *words], env=env, check=True)

    def go(step, part, target):
        following = steps[target]
        if is_partitioned(following) and not is_partitioned(step):
            open_tokens.extend((target, one) for one in subjects)
        elif is_partitioned(step) and not is_partitioned(following):
            arrived[target].add(part)
            if len(arrived[target]) == len(subjects):
                open_tokens.append((target, ""))
        else:
            open_tokens.append((target, part))

    while open_tokens or waiting:
        if not open_tokens:
            reviewer.act()
            held, waiting = waiting, []
        else:
            name, part = open_tokens.pop(0)
            run(steps[name], part)
            held = [(name, part)]
        for name, part in held:
            conditions, plain = targets_of(steps[name])
            chosen = next((target for condition, target in conditions
                           if reviewer.holds(condition, part)), None)
            if conditions and chosen is None:
                waiting.append((name, part))
            for target in plain + ([chosen] if chosen else []):
                go(steps[name], part, target)


def write_inputs(name, folder, count):
    """The user's data; the subjects that the author's Python finds in them."""
    data = folder / "data"
    subjects = []
    for i in range(count):
        if name == "HEMnet":
            data.mkdir(exist_ok=True)
            for kind in ("TP53", "HandE"):
                (data / f"case{i}x_{kind}.svs").write_text(f"{kind} of {i}")
            subjects.append(f"case{i}")  # the author's function cuts ten characters off
        else:
            place = data / f"p{i}" / "2020.01.01"
            place.mkdir(parents=True)
            (place / "scan").write_text(f"scan of {i}")
            subjects.append(f"p{i}/2020.01.01")
    for one in ("labels", "extra"):
        (folder / one).mkdir()
        (folder / one / "file").write_text(one)
    (folder / "parameters.yaml").write_text("seed: 1\n")
    return subjects


def table_of(workflow):
    out = {}
    for step in workflow["steps"]:
        mounts = step.get("mounts", {})
        out[step["id"]] = {
            "parts": is_partitioned(step),
            "in": {name: mount["from"]["step"] if "from" in mount else None
                   for name, mount in mounts.get("input_volumes", {}).items()},
            "out": {name: mount["type"] for name, mount in mounts.get("output_volumes",
                                                                      {}).items()}}
    return out


def written(data):
    return {str(p.relative_to(data)): p.read_text() for p in data.rglob("*") if p.is_file()}


def runs_of(folder):
    path = folder / "ran"
    return collections.Counter(path.read_text().splitlines() if path.exists() else [])


def assay(program, *args, codes=(0,)):
    done = subprocess.run([program, "pipeline", *map(str, args)], capture_output=True, text=True,
                          check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"{args}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def run_ours(program, flow, folder, options, reviewer):
    """Runs, is reviewed and approved, and runs again until all is done."""
    flags = ["--site", folder / "site.yaml", "--allow-code", "--no-wait"]
    if options.kill:
        process = subprocess.Popen([program, "pipeline", "run", flow, *flags],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and sum(runs_of(folder).values()) < 3:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    while True:
        done = assay(program, "run", flow, *flags, "--json", codes=(0, 1))
        told = json.loads(done.stdout)
        if told["execution_status"] != "stopped":
            return told["execution_status"]
        status = assay(program, "status", flow).stdout
        if "approval" in status:
            assay(program, "approve", flow, "final_confirmation")
        elif not reviewer.act():
            return "it waits for a reviewer who has done everything:\n" + status


def compare(program, name, source, options, work):
    text = source.read_text()
    workflow = yaml.safe_load(text)
    sides = {}
    for side in ("ours", "plain"):
        folder = work / side
        shutil.copytree(source.parent, folder, ignore=shutil.ignore_patterns("*.png"))
        subjects = write_inputs(name, folder, options.subjects)
        (folder / "stand_in.py").write_text(STAND_IN)
        (folder / "table.json").write_text(json.dumps(table_of(workflow)))
        sides[side] = folder
    flow = sides["ours"] / source.name
    given = {"data_path": "data", "labels_path": "labels", "parameters_file": "parameters.yaml"}
    used = {name for step in table_of(workflow).values() for name, of in step["in"].items()
            if of is None}
    given = {key: value for key, value in given.items() if key in used}
    if (sides["ours"] / "workspace/additional_files").exists() and "additional_files" in used:
        given["additional_files"] = "workspace/additional_files"
    images = {step["image"] for step in workflow["steps"] if step["type"] == "container"}
    (sides["ours"] / "site.yaml").write_text(json.dumps(
        {"inputs": given, "images": {image: f"{sys.executable} stand_in.py" for image in images}}))
    data = {"ours": flow.with_suffix(".work") / "data", "plain": sides["plain"] / "made"}
    data["plain"].mkdir()
    status = run_ours(program, flow, sides["ours"], options, Reviewer(data["ours"], subjects))
    if status != "done":
        yield f"ours ended with: {status}"
        return

    def place_of(mount_name, mount):
        if "from" in mount:
            return data["plain"] / mount["from"]["mount"]
        return sides["plain"] / given[mount_name] if mount_name in given else (
            data["plain"] / mount_name)

    interpret(workflow, sides["plain"], place_of, subjects, Reviewer(data["plain"], subjects))
    ours, plain = written(data["ours"]), written(data["plain"])
    for path in sorted(ours.keys() | plain.keys()):
        if ours.get(path) != plain.get(path):
            yield f"{path}: {ours.get(path)} and {plain.get(path)}"
    ours, plain = runs_of(sides["ours"]), runs_of(sides["plain"])
    twice = 0
    for key in sorted(ours.keys() | plain.keys()):
        if options.kill and ours[key] == plain[key] + 1:
            twice += 1
        elif ours[key] != plain[key]:
            yield f"{key}: ran {ours[key]} and {plain[key]} times"
    if twice > (os.cpu_count() or 1):
        yield f"{twice} instances ran again after the kill"
    digest = hashlib.sha256(json.dumps(sorted(written(data["ours"]).items())).encode())
    print(f"  {sum(ours.values())} processes, {len(written(data['ours']))} files, sha256 "
          f"{digest.hexdigest()[:12]}, {twice} again after the kill")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--medperf", type=pathlib.Path, required=True)
    parser.add_argument("--subjects", type=int, default=3)
    parser.add_argument("--kill", action="store_true")
    options = parser.parse_args()
    program = os.environ.get("ASSAY_BIN", ROOT / "build/release/assay")
    bad = 0
    for name, path in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as work:
            print(name, flush=True)
            found = list(compare(program, name, options.medperf / "examples" / path, options,
                                 pathlib.Path(work)))
            bad += len(found)
            print(f"  {len(found)} differences", *found, sep="\n  ", flush=True)
    print(f"{bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
