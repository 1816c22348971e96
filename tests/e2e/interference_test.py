"""Classes with rates of their own, and what each does to the others: `assay run --interference`."""

import json

import pytest

# One place, and each query takes 300 ms; both classes come at the same instants, every 1.25 s, the
# first of them first. So the second one waits 300 ms for the first, and the first for nobody.
SERVICE = 0.3
SLO = "latency<=450ms"


def test_a_known_interference_is_found_within_three_percent(assay, endpoint, tmp_path):
    server = endpoint("--concurrency", 1, "--ttft", "200ms", "--itl", "100ms", "--osl", 2)
    folder = tmp_path / "matrix"
    done = assay("run", "--endpoint", server.url, "--model", "m", "--interference", "--class",
                 f"first,rate=0.8,law=constant,isl=20,osl=2,slo={SLO}", "--class",
                 f"second,rate=0.8,law=constant,isl=20,osl=2,slo={SLO}", "--duration", "8s",
                 "--report-dir", folder, "--quiet", "--json", "--allow-client-limited")
    result = json.loads(done.out)
    assert json.loads((folder / "interference.json").read_text()) == result
    first, second = result["interference"]
    assert (first["class"], first["beside"]) == ("first", ["second"])
    assert first["figures"]["latency_p50"]["ratio"] == pytest.approx(1, rel=0.03)
    assert second["figures"]["latency_p50"]["ratio"] == pytest.approx(2, rel=0.03)
    assert second["figures"]["ttft_p50"]["ratio"] == pytest.approx((200 + 300) / 200, rel=0.03)
    assert second["figures"]["tpot_p50"]["ratio"] == pytest.approx(1, rel=0.03)
    classes = {one["name"]: one for one in result["runs"][-1]["classes"]}
    for one in classes.values():
        assert one["ended"] == 6 and one["failed"] == 0
    assert classes["first"]["attainment"] == 1 and classes["second"]["attainment"] == 0
    assert result["runs"][-1]["fairness"] == 0.5
    # The same queries at the same instants, alone and together.
    for name in ("alone-first", "alone-second", "all"):
        assay("verify", folder / name)


def test_what_interference_needs_is_said(assay, endpoint, tmp_path):
    server = endpoint()
    base = ["run", "--endpoint", server.url, "--model", "m", "--report-dir", tmp_path / "m",
            "--interference"]
    for more in ([], ["--class", "a,rate=3"], ["--class", "a", "--class", "b"],
                 ["--class", "a,rate=3", "--class", "b"],
                 ["--class", "a,rate=3", "--class", "b,rate=1", "--rate", 5],
                 ["--class", "a,rate=3", "--class", "b,rate=1,law=often"],
                 ["--class", "a,rate=3", "--class", "b,rate=1,concurrency=2"],
                 ["--class", "a,concurrency=3", "--class", "b,rate=1,think=1s"],
                 ["--class", "a,concurrency=3", "--class", "b,concurrency=-1"],
                 ["--class", "a,rate=3", "--class", "b,rate=1", "--require", "failed<=1%"]):
        assert assay(*base, *more, "--duration", "1s", code=2).err
    assert not (tmp_path / "m").exists()


def test_classes_in_closed_loops_have_their_own_users_and_a_matrix(assay, endpoint, tmp_path):
    # One place of 300 ms: alone a user waits for its own reply alone; two users beside each other
    # wait for one another, so each is answered half as often.
    server = endpoint("--concurrency", 1, "--ttft", "200ms", "--itl", "100ms", "--osl", 2)
    folder = tmp_path / "matrix"
    done = assay("run", "--endpoint", server.url, "--model", "m", "--interference", "--class",
                 "left,concurrency=1,isl=20,osl=2", "--class", "right,concurrency=1,isl=20,osl=2",
                 "--duration", "1500ms", "--report-dir", folder, "--quiet", "--json",
                 "--allow-client-limited")
    result = json.loads(done.out)
    for cell in result["interference"]:
        assert cell["figures"]["latency_p50"]["ratio"] == pytest.approx(2, rel=0.03)
    alone, both = result["runs"][0]["classes"][0], result["runs"][-1]["classes"]
    assert 3 <= alone["ended"] <= 5 and [one["ended"] for one in both] == [3, 3]
    for name in ("alone-left", "all"):
        assay("verify", folder / name)


def test_users_who_think_ask_less_often(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "50ms", "--osl", 1)
    done = assay("run", "--endpoint", server.url, "--model", "m", "--class",
                 "slow,concurrency=2,think=150ms,isl=20", "--class", "open,rate=10,law=constant",
                 "--threads", 2, "--duration", "2s", "--report-dir", tmp_path / "run", "--quiet",
                 "--json", "--allow-client-limited")
    slow, open_ = json.loads(done.out)["classes"]["classes"]
    # 200 ms and a little from one query of a user to the next.
    assert 2 < slow["ended"] <= 2 * 10 and open_["ended"] == 19
