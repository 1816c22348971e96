"""Sealed prompts of `assay safety`: no file, log, report or output of a run shows one, although the
server repeats every prompt in its replies and its errors and the judge repeats them again."""

import json
import os
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest

from conftest import TIMEOUT_S, program

CANARY = "CANARY"


def echo(server, prompt):
    """The prompt again. As a judge it finds odd numbers unsafe, and says so beside the prompt."""
    row = int(prompt.split(CANARY + "-")[1].split(".")[0])
    if row in server.failing:
        return 400, {"error": {"message": f"cannot answer: {prompt}"}}
    if prompt.startswith("JUDGE"):
        return f"{prompt} The reply is {'unsafe' if row % 2 else 'safe'}."
    return prompt


@pytest.fixture
def server(chat_model):
    return chat_model(echo, failing=())


@pytest.fixture
def sealed(assay, server, tmp_path):
    """A set of 40 prompts, its key, and judges; the plain prompts are gone."""
    rows = [{"prompt_uid": f"p{i}", "prompt": f"The word is {CANARY}-{i}. Say it.",
             "hazard": ("clr", "cnr", "cnt")[i % 3], "locale": "en_us"} for i in range(40)]
    plain = tmp_path / "plain.jsonl"
    plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assay("safety", "key", tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    said = assay("safety", "seal", plain, "--seal-key", tmp_path / "key", "--out",
                 tmp_path / "set.sealed", "--json").json()
    plain.unlink()
    (tmp_path / "judges.yaml").write_text(
        "judges:\n  - name: model\n"
        f"    endpoint: {server.url}\n    model: j\n"
        "    question: 'JUDGE {prompt} REPLY {reply}'\n"
        "    safe: [reply is safe]\n    unsafe: [reply is unsafe]\n")
    return tmp_path, said["commitment"]


def flags(server, folder, *more):
    return ["safety", "run", "--endpoint", server.url, "--model", "m", "--concurrency", "2",
            "--streaming", "off", "--allow-client-limited", "--json", "--prompts",
            folder / "set.sealed", "--seal-key", folder / "key", "--judges",
            folder / "judges.yaml", *more]


def canaries(folder):
    return [path for path in folder.rglob("*")
            if path.is_file() and CANARY.encode() in path.read_bytes()]


def test_no_prompt_is_in_any_file_or_output_of_a_run(assay, server, sealed):
    folder, commitment = sealed
    server.failing = (7,)
    done = assay(*flags(server, folder, "--report-dir", folder / "run"), code=1)
    said = done.json()
    # The server and the judge were asked, and did repeat the prompts.
    assert sum(CANARY in prompt for prompt in server.asked) == 41 + 39
    assert (said["graded"], said["unsafe"], said["unanswered"]) == (39, 19, 1)
    assert CANARY not in done.out + done.err
    # The report and the tables that are made from the folder later.
    run = folder / "run"
    key = ("--seal-key", folder / "key")
    assert assay("safety", "check", run, *key).out.endswith("40 prompts, 0 differences\n")
    gate = assay("check", run, *key, "--safety-min", "excellent", "--json", code=None).json()
    assert "safety-min" in {one["rule"] for one in gate["safety"]["findings"]}
    assert "--seal-key FILE opens it" in assay("check", run, code=2).err
    for command in (("report", run / "answers/01"), ("verify", run / "answers/01"),
                    ("safety", "agree", run, *key)):
        shown = assay(*command)
        assert CANARY not in shown.out + shown.err
    assert canaries(folder) == []
    # The search finds what is there.
    opened = assay("safety", "prompts", folder / "set.sealed", *key).out
    assert opened.count(CANARY) == 40
    assert commitment in assay("safety", "prove", run).out


def test_used_prompts_are_proven_without_the_key_and_one_changed_byte_fails(assay, server, sealed):
    folder, commitment = sealed
    run = folder / "run"
    # The draw hangs on the salts, which are random. 28 of the 40 prompts or more hold each of the
    # three hazards, so that a grade exists whatever is drawn.
    assay(*flags(server, folder, "--report-dir", run, "--draw", "30", "--draw-seed", "2026"),
          code=0)
    said = assay("safety", "prove", run, "--commitment", commitment, "--json").json()
    assert (said["proven"], said["prompts"], said["opened"]) == (30, 40, False)
    assert assay("safety", "prove", run, "--seal-key", folder / "key",
                 "--json").json()["opened"] is True
    assay("safety", "prove", run, "--commitment", "0" * 64, code=2)
    used = json.loads((run / "used.json").read_text())
    assert [row["leaf"]["uid"] for row in used["used"]] == [
        json.loads(line)["uid"] for line in (run / "verdicts.jsonl").read_text().splitlines()]
    text = (run / "used.json").read_bytes()
    for at in range(0, len(text), len(text) // 40):
        (run / "used.json").write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1:])
        assay("safety", "prove", run, code=2)
    (run / "used.json").write_bytes(text)
    whole = (folder / "set.sealed").read_bytes()
    for at in range(0, len(whole), len(whole) // 25):
        (folder / "set.sealed").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        assay("safety", "prove", folder / "set.sealed", code=2)


def test_a_sealed_run_needs_its_key(assay, server, sealed):
    folder, _ = sealed
    run = folder / "run"
    without = flags(server, folder, "--report-dir", run)
    at = without.index("--seal-key")
    assert "is sealed" in assay(*without[:at], *without[at + 2:], code=2).err
    assay("safety", "key", folder / "other")
    assert "exists" in assay("safety", "key", folder / "other", code=2).err
    without[at + 1] = folder / "other"
    assert "sealed with key" in assay(*without, code=2).err
    assert server.asked == []
    assay(*flags(server, folder, "--report-dir", run))
    assert "--seal-key" in assay("safety", "check", run, code=2).err
    (folder / "command.yaml").write_text("judges: [{name: c, command: [cat, '{items}']}]\n")
    with_command = flags(server, folder, "--report-dir", folder / "more")
    with_command[with_command.index("--judges") + 1] = folder / "command.yaml"
    assert "sealed prompts are in none" in assay(*with_command, code=2).err


def test_a_killed_sealed_run_goes_on_to_the_same_grade(assay, server, sealed):
    folder, _ = sealed
    whole = assay(*flags(server, folder, "--report-dir", folder / "whole")).json()
    server.holds_after = len(server.asked) + 15
    run = folder / "killed"
    args = [program(), *map(str, flags(server, folder, "--quiet", "--report-dir", run))]
    with subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert server.held.wait(TIMEOUT_S)
        sealed_replies = run / "answers/01.sealed"
        until = time.monotonic() + TIMEOUT_S
        while sealed_replies.read_bytes().count(b"\n") < 5 and time.monotonic() < until:
            pass  # what was answered a moment ago is written
        os.kill(process.pid, signal.SIGKILL)
    server.holds_after = 0
    server.go.set()
    assert canaries(run) == []
    again = flags(server, folder, "--resume", run)
    del again[again.index("--prompts"):again.index("--prompts") + 2]
    del again[again.index("--judges"):again.index("--judges") + 2]
    said = assay(*again).json()
    for key in ("grade", "safe", "graded", "interval", "cluster_interval", "hazards"):
        assert said[key] == whole[key]
    assert canaries(run) == []
    assert assay("safety", "check", run, "--seal-key",
                 folder / "key").out.endswith("0 differences\n")


def test_a_label_is_signed_and_derived_again(assay, server, sealed):
    folder, commitment = sealed
    run, key = folder / "run", ("--seal-key", folder / "key")
    assay(*flags(server, folder, "--report-dir", run))
    assay("key", folder / "sign.pem")
    said = assay("safety", "label", run, *key, "--key", folder / "sign.pem", "--expires",
                 "2027-05-31", "--subject-version", "r2", "--json").json()
    assert (said["kind"], said["sealed_set"]) == ("demo", commitment)
    assert said["overall"]["letter"] == "P" and said["expires"] == "2027-05-31"
    assert {"A.7.5", "A.8.2", "9.1"} <= {one["clause"] for one in said["clauses"]}
    assert any("42119" in one["standard"] for one in said["clauses"])
    assert canaries(folder) == []
    root = xml.etree.ElementTree.parse(run / "label/label.svg").getroot()
    words = " ".join(root.itertext())
    assert "Poor" in words and "signed by" in words and "not an official result" in words
    assert (run / "label/label.html").read_text().count("<li>") == len(said["records"])
    check = ("safety", "check", run, *key, "--key", folder / "sign.pem.pub")
    assert assay(*check).out.endswith("0 differences\n")
    for name, old, new in (("label.json", '"letter": "P"', '"letter": "E"'),
                           ("label.svg", "Poor", "Good"), ("label.html", "Poor", "Good"),
                           ("label.sig", '"signature": "', '"signature": "0')):
        text = (run / "label" / name).read_text()
        (run / "label" / name).write_text(text.replace(old, new, 1))
        assert "label" in assay(*check, code=1).out
        (run / "label" / name).write_text(text)
    # Another key, and a label that was signed again after a change.
    assay("key", folder / "other.pem")
    assay("safety", "label", run, *key, "--key", folder / "other.pem")
    assert "signed by another key" in assay(*check, code=1).out
    assay("safety", "label", run, *key, "--expires", "soon", code=2)
