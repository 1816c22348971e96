"""What a site does beside plain runs: a curve, gates of accuracy and safety, the progress of its
data's preparation; and a hub that is reached by HTTPS."""

import json
import pathlib
import subprocess

import pytest
from conftest import program
from sites_test import SAMPLES, Hub, Site, join, parties, runs_at_hub  # noqa: F401

GATES = {"concurrency": [2, 32], "samples": 40, "max_output_tokens": 8, "curve": True,
         "scorer": "string_match", "accuracy_min": 0.5, "safety_min": "good",
         "fields": ["completed", "qps", "ttft_ms_p50", "accuracy", "accuracy_met", "safe_share",
                    "safety_grade", "safety_met"]}


@pytest.fixture
def gated(parties, endpoint, tmp_path):  # noqa: F811
    """A site whose server is unsafe at eight requests and more, and a benchmark with gates."""
    hub, act, site_token = parties
    server = endpoint("--ttft", "100ms", "--osl", 4, "--quirk", "unguarded")
    site = Site("north", tmp_path / "site", hub.url, site_token("north"), server.url)
    site.fenced = False
    asked = tmp_path / "gates.json"
    asked.write_text(json.dumps(GATES))
    act("committee", "add_benchmark", "gates", "--measurement", asked)
    act("committee", "associate", "--benchmark", "gates", "--model", "our-model")
    act("vendor", "approve", "--benchmark", "gates", "--model", "our-model")
    site("register", "data-north", "--send")
    pair = ("--benchmark", "gates", "--dataset", "data-north")
    act("north", "associate", *pair)
    act("committee", "approve", *pair)

    def order(run):
        act("committee", "order", run, "--benchmark", "gates", "--dataset", "data-north",
            "--model", "our-model")

    return site, order, act


def test_a_curve_and_its_gates_run_at_the_site_where_its_policy_lets_them(gated):
    site, order, act = gated
    policy = site.folder / "site.yaml"
    text = policy.read_text().replace("[triage]", "[gates]").replace(
        "concurrency_max: 8", "concurrency_max: 32").replace("k_minimum: 5", "k_minimum: 1")
    text = text.replace("fields: [accuracy, completed, qps]",
                        "fields: [" + ", ".join(GATES["fields"]) + "]")
    for part, refusal in (("", "allows no curve"), ("  curve: quick\n", "allows no safety run"),
                          ("  curve: quick\n  safety: true\n", None)):
        parts = part + "safety: {judges: canary.yaml}\nrelease:"
        policy.write_text(text.replace("release:", parts))
        (site.folder / "canary.yaml").write_text("judges: [{name: w, rule: {'*': [canary]}}]\n")
        run = f"run-{len(part)}"
        order(run)
        said = site("agent", "--once").stderr
        if refusal:
            assert refusal in said
            assert runs_at_hub(act)[run]["reason"] == "policy"
    document = json.loads(site("review", run).stdout)
    figures = {level["concurrency"]: level["figures"] for level in document["levels"]}
    assert list(figures) == [2, 32]
    for level in figures.values():
        assert level["completed"] > 0 and level["ttft_ms_p50"] >= 100
    # No reply is a label: the accuracy is 0 and its gate is not met, at each level.
    asked = [level for level in figures.values() if "accuracy" in level]
    assert len(asked) == 2
    assert all(level["accuracy"] == level["accuracy_met"] == 0 for level in asked)
    assert figures[2]["safety_grade"] == 5 and figures[2]["safety_met"] == 1
    assert figures[32]["safety_grade"] < 3 and figures[32]["safety_met"] == 0
    attempt = site.folder / "runs" / run / "attempt-1"
    for level, share in ((2, figures[2]["safe_share"]), (32, figures[32]["safe_share"])):
        grade = json.loads((attempt / f"safety-c{level}/grade.json").read_text())
        assert share == pytest.approx(grade["safe"] / grade["graded"], rel=0.05)
    assert (attempt / "curve/points/r32/performance/result_summary.json").exists()


PREPARE = """
steps:
  - {{id: CANARYSTEP, type: process, command: [sh, -c, "exit {code}"], partition: true,
     next: ask}}
  - {{id: ask, type: manual_approval}}
inputs: {{raw: raw}}
partition_def: {{type: folders, path: "{{raw}}/*"}}
"""


def test_a_preparation_reaches_the_hub_as_counts_alone(parties, assay, tmp_path):  # noqa: F811
    hub, act, site_token = parties
    site = Site("north", tmp_path / "site", hub.url, site_token("north"), "http://127.0.0.1:1")
    site.fenced = False
    policy = site.folder / "site.yaml"
    policy.write_text(policy.read_text().replace("    ground_truth:",
                                                 "    preparation: prep.work\n    ground_truth:"))
    site("agent", "--once")  # nothing has begun
    for subject in ("CANARY-a", "CANARY-b", "CANARY-c"):
        (site.folder / "raw" / subject).mkdir(parents=True)
    pipeline = site.folder / "prep.yaml"

    def prepare(code, ends):
        pipeline.write_text(PREPARE.format(code=code))
        assay("pipeline", "run", pipeline, "--no-wait", code=ends)
        assert json.loads(site("agent", "--once", "--json").stdout)["sent"] == 1
        assert json.loads(site("agent", "--once", "--json").stdout)["sent"] == 0
        (known,) = act("committee", "show", "--json").json()["preparations"]
        assert (known["id"], known["owner"]) == ("data-north", "north")
        return [(step["done"], step["failed"], step["waiting"], step["total"])
                for step in known["steps"]]

    assert prepare(1, None) == [(0, 3, 0, 3), (0, 0, 0, 1)]
    assert prepare(0, None) == [(3, 0, 0, 3), (0, 0, 1, 1)]
    assert "preparing data-north at north: 3/3 0/1" in act("committee", "show").out
    assert b"CANARY" not in pathlib.Path(hub.store).read_bytes()
    # Its id is this site's from now on.
    site_token("south")
    other = Site("south", tmp_path / "other", hub.url, (tmp_path / "south").read_text().strip(),
                 "http://127.0.0.1:1")
    other.fenced = False
    text = (other.folder / "site.yaml").read_text()
    (other.folder / "site.yaml").write_text(text.replace("data-south", "data-north"))
    assert "another prepares" in other("register", "data-north", "--send", code=None).stderr


def test_an_agent_trusts_a_hub_by_its_certificate_alone(assay, tmp_path):
    folder = tmp_path / "tls"
    folder.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    hub = Hub(str(tmp_path / "hub.db"), flags=("--certificate", folder / "cert.pem",
                                               "--certificate-key", folder / "key.pem"))
    try:
        assert hub.url.startswith("https://")
        token = assay("hub", "token", "--store", hub.store, "--role", "data_owner",
                      "--organisation", "north").out.strip()
        site = Site("north", tmp_path / "site", hub.url, token, "http://127.0.0.1:1")
        site.fenced = False
        said = site("register", "data-north", "--send", code=3).stderr
        assert "certificate" in said
        policy = site.folder / "site.yaml"
        policy.write_text(f"ca_file: {folder}/cert.pem\n" + policy.read_text())
        assert "accepted" in site("register", "data-north", "--send").stderr
        site("agent", "--once")
        shown = assay("hub", "show", "--hub", hub.url, "--token-file", site.folder / "token",
                      "--ca-file", folder / "cert.pem", "--json").json()
        assert [one["rows"] for one in shown["datasets"]] == [SAMPLES]
        # A hub without TLS is on this machine alone.
        refused = subprocess.run([program(), "hub", "serve", "--store", tmp_path / "h.db",
                                  "--host", "0.0.0.0", "--port", "0"], capture_output=True,
                                 text=True, timeout=60)
        assert refused.returncode == 2 and "--certificate" in refused.stderr
    finally:
        hub.stop()
