"""The ladder from the ideal point to the real world: `assay run --derate`."""

import json

# Four places, and 20 ms for each of a query's 5 tokens: eight at once wait for a whole service.
FLAGS = ["--class", "chat,rate=30,isl=20,osl=5,slo=latency<=32ms", "--class",
         "batch,rate=10,isl=20,osl=5"]


def test_each_step_has_its_cost(assay, endpoint, tmp_path):
    server = endpoint("--concurrency", 4, "--ttft", "12ms", "--itl", "2ms", "--osl", "max")
    folder = tmp_path / "ladder"
    base = ["run", "--endpoint", server.url, "--model", "m", "--derate", "--duration", "200ms",
            "--allow-client-limited"]
    done = assay(*base, *FLAGS, "--report-dir", folder, "--quiet", "--json")
    result = json.loads(done.out)
    assert json.loads((folder / "derating.json").read_text()) == result
    steps = {one["step"]: one for one in result["steps"]}
    assert list(steps) == ["ideal", "limits", "arrivals"]
    assert 0 < steps["ideal"]["tps"] <= 4 * 5 / 0.02
    before = None
    for one in result["steps"]:
        assert one["low"] <= one["tps"] <= one["high"]
        if before and before["tps"] > 0:
            assert abs(one["cost"]["ratio"] - one["tps"] / before["tps"]) < 1e-9
        before = one
    assert steps["limits"]["load"] < 8
    for one in result["runs"]:
        assert (folder / one["folder"] / "config.yaml").is_file()
    assay("verify", folder / result["runs"][-1]["folder"])
    # The folder is reported again.
    text = assay("report", folder).out
    assert "arrivals: " in text and "of the ideal throughput is left" in text
    assert assay("report", folder, "--json").json() == result
    assert "| arrivals: " in assay("report", folder, "--markdown").out
    assay("report", folder, "--html", tmp_path / "ladder.html")
    assert "<svg" in (tmp_path / "ladder.html").read_text()
    (folder / "derating.json").write_text('{"derating": 1, "steps": [{"step": "ideal"}]}')
    assert "steps[0].load" in assay("report", folder, code=2).err


def test_what_a_ladder_needs_is_said(assay, endpoint, tmp_path):
    server = endpoint()
    base = ["run", "--endpoint", server.url, "--model", "m", "--report-dir", tmp_path / "no",
            "--derate", "--duration", "1s"]
    for more in ([], ["--class", "a,rate=1"], ["--class", "a,slo=ttft<=1s"],
                 ["--class", "a,concurrency=1,slo=ttft<=1s"],
                 [*FLAGS, "--derate-target", 1], [*FLAGS, "--interference"]):
        assert assay(*base, *more, code=2).err
    assert not (tmp_path / "no").exists()
