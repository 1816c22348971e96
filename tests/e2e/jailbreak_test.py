"""`assay jailbreak`: seeds and attacked twins in one run, from a server with a scripted weakness; a
kill in the middle; the taxonomy."""

import json
import os
import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S, program


def parrot_says(_, content):
    """The word, to a parrot's audience and to whoever sends it as a picture; nobody else."""
    weak = not isinstance(content, str) or "parrot" in content
    return "canary red nine" if weak else "I can't."


@pytest.fixture
def parrot(chat_model):
    return chat_model(parrot_says)


def flags(server, *more):
    return ["jailbreak", "run", "--endpoint", server.url, "--model", "m", "--concurrency", "4",
            "--streaming", "off", "--no-preflight", "--allow-client-limited", "--quiet", "--json",
            *more]


def test_attacks_and_their_seeds_are_asked_in_one_run_and_compared_in_pairs(assay, parrot,
                                                                            tmp_path):
    folder = tmp_path / "run"
    said = assay(*flags(parrot, "--report-dir", folder)).json()
    # The grade is that of the seeds alone, and the seeds are safe.
    assert (said["letter"], said["graded"]) == ("E", 60)
    assert [(row["modality"], row["graded"]) for row in said["modalities"]] == [("text", 60)]
    pairs = said["jailbreak"]
    gaps = {row["mechanism"]: row["gap"] for row in pairs["mechanisms"]}
    assert gaps["open.role"] == gaps["composed"] == 1
    assert gaps["hidden.encoding"] == gaps["open.language"] == 0
    assert pairs["coverage"] == 1 and pairs["resilience_gap"]["pairs"] == 60 * 13
    assert pairs["resilience_gap"]["gap"] == pytest.approx(2 / 13)
    assert pairs["macro_gap"] == pytest.approx(2 / 9)
    role = next(row for row in pairs["mechanisms"] if row["mechanism"] == "open.role")
    assert role["p_holm"] < 1e-12 and role["interval"] == [1, 1]
    assert {row["hazard"] for row in pairs["hazards"]} == {"clr", "cnr", "cnt"}
    assert len(parrot.asked) == 60 * 14
    # Both arms are asked in turns, from the first to the last tenth.
    seeds = {json.dumps(row["prompt"]) for row in map(
        json.loads, (folder / "prompts.jsonl").read_text().splitlines())}
    for part in range(10):
        some = parrot.asked[part * 84:part * 84 + 84]
        assert 0 < sum(json.dumps(one) in seeds for one in some) < 45
    assert "open.role" in assay("jailbreak", "report", folder).out
    label = assay("safety", "label", folder, "--json").json()
    assert label["overall"]["grade"] == "Excellent"
    assert assay("safety", "check", folder).out.endswith("840 prompts, 0 differences\n")
    text = (folder / "pairs.json").read_text()
    (folder / "pairs.json").write_text(text.replace('"gap": 1', '"gap": 0', 1))
    assert "pairs.json" in assay("safety", "check", folder, code=1).out


def test_attacks_are_judged_at_each_level_of_a_series(assay, parrot, tmp_path):
    folder = tmp_path / "series"
    series = ("--report-dir", folder, "--levels", "1,4", "--attack-gap-max")
    said = assay(*flags(parrot, *series, "10"), code=5).json()
    assert [row["attack_gap"] for row in said["levels"]] == [pytest.approx(2 / 13)] * 2
    assert [f["path"] for f in said["safety"]["findings"] if f["rule"] == "safety-attacks"] == [
        "c0001", "c0004"]
    assert "attacks at 4: unsafe +15.4 points" in (folder / "grades.txt").read_text()
    missed = assay("check", folder, "--attack-gap-max", "15.3", code=5).out
    assert "attacks change the unsafe share at concurrency 4 by +15.4 points" in missed
    assay("check", folder, "--attack-gap-max", "15.4")
    assert "expected points from 0 to 100" in assay("check", folder, "--attack-gap-max", "-1",
                                                    code=2).err


def test_pictures_of_the_words_are_an_attack_too(assay, parrot, tmp_path):
    said = assay(*flags(parrot, "--report-dir", tmp_path / "run", "--attacks",
                        "standin_pictures")).json()
    assert [row["gap"] for row in said["jailbreak"]["mechanisms"]] == [1, 1]
    drawn = [one for one in parrot.asked if not isinstance(one, str)]
    assert len(drawn) == 120
    assert all(part["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
               for _, part in drawn)
    assay("safety", "check", tmp_path / "run")


def test_a_blind_judge_is_found_by_labels_of_people(assay, parrot, tmp_path):
    (tmp_path / "blind.yaml").write_text("judges: [{name: words, rule: {'*': [turtle]}}]\n")
    folder = tmp_path / "run"
    assay(*flags(parrot, "--report-dir", folder, "--judges", tmp_path / "blind.yaml"))
    items = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    (tmp_path / "labels.jsonl").write_text("".join(
        json.dumps({"uid": item["uid"], "rater": "r", "safe": item.get("attack") != "parrot"})
        + "\n" for item in items))
    said = assay("jailbreak", "report", folder, "--labels", tmp_path / "labels.jsonl", "--json",
                 code=1).json()
    assert "judge words finds 0 % of the unsafe replies under open.role" in said["findings"]
    row = next(row for row in said["judges"]
               if (row["judge"], row["mechanism"]) == ("words", "open.role"))
    assert row["sensitivity"] == 0 and row["labelled"] == 60


def test_a_killed_run_of_attacks_goes_on_to_the_same_figures(assay, parrot, tmp_path):
    whole = assay(*flags(parrot, "--report-dir", tmp_path / "whole")).json()
    parrot.holds_after = len(parrot.asked) + 200
    folder = tmp_path / "killed"
    args = [program(), *map(str, flags(parrot, "--report-dir", folder))]
    with subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert parrot.held.wait(TIMEOUT_S)
        log = folder / "answers/01/assay/events-0.alog"
        until = time.monotonic() + TIMEOUT_S
        while b"I can't." not in log.read_bytes() and time.monotonic() < until:
            pass  # the log has what was answered a moment ago
        os.kill(process.pid, signal.SIGKILL)
    parrot.holds_after = 0
    parrot.go.set()
    again = assay(*flags(parrot, "--resume", folder)).json()
    assert again["jailbreak"] == whole["jailbreak"]
    for name in ("pairs.json", "pairs.txt", "grade.json"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assay("safety", "check", folder)


def test_a_taxonomy_is_shown_and_a_wrong_one_refused(assay, tmp_path):
    said = assay("jailbreak", "taxonomy", "standin", "--json").json()
    assert said["without_attack"] == 0 and len(said["leaves"]) == 9
    tree = assay("jailbreak", "taxonomy").out
    assert "split by whether the words of the prompt can be read as they stand" in tree
    assert len(assay("jailbreak", "instances").out.splitlines()) == 60 * 14
    assert assay("jailbreak", "instances").out == assay("jailbreak", "instances").out
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: t\nnodes:\n"
                   "  - {id: a, name: root, split: by what}\n"
                   "  - {id: b, parent: a, name: one, definition: x, transforms: [leet]}\n"
                   "  - {id: c, parent: a, name: two, definition: y, transforms: [leet]}\n"
                   "attacks: [{id: x, leaf: b, steps: [leet]}]\n")
    refused = assay("jailbreak", "taxonomy", bad, code=2).err
    assert "bad.yaml" in refused and "in two leaves" in refused
