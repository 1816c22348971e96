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
                 ["--class", "a,rate=3", "--class", "b,rate=1", "--require", "failed<=1%"]):
        assert assay(*base, *more, "--duration", "1s", code=2).err
    assert not (tmp_path / "m").exists()
