"""--require: a run, a curve and a report that miss a limit end with exit code 5 and say which."""

import xml.etree.ElementTree as xml

import pytest


@pytest.fixture
def run(assay, endpoint, tmp_path):
    url = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "8").url

    def go(*flags, code=0):
        return assay("run", "--endpoint", url, "--model", "m", "--samples", "30",
                     "--concurrency", "2", "--report-dir", tmp_path / "run",
                     "--allow-client-limited", *flags, code=code)

    return go


def test_a_run_that_keeps_its_limits_passes(run, tmp_path):
    done = run("--require", "ttft_p95<=30s,failed<=0", "--require", "completed>=30", "--json",
               "--junit", tmp_path / "gate.xml")
    verdicts = done.json()["requirements"][0]["verdicts"]
    assert [verdict["met"] for verdict in verdicts] == [True, True, True]
    assert xml.parse(tmp_path / "gate.xml").getroot().get("failures") == "0"


def test_a_run_that_misses_one_ends_with_5_and_keeps_everything(run, assay, tmp_path):
    done = run("--require", "ttft_min<=1ns", "--require", "failed<=0.1%", "--json", "--junit",
               tmp_path / "gate.xml", code=5)
    result = done.json()
    assert result["exit"]["causes"][0] == {"code": 5, "why": "a requirement is not met"}
    cases = xml.parse(tmp_path / "gate.xml").getroot().findall("testcase")
    assert [case.get("name") for case in cases] == ["ttft_min<=1ns", "failed<=0.1%"]
    assert cases[0].find("failure") is not None and cases[1].find("failure") is None
    again = assay("report", tmp_path / "run", "--require", "ttft_min<=1ns", code=5)
    assert "require ttft_min<=1ns:" in again.out and "not met" in again.out
    assay("report", tmp_path / "run", "--require", "ttft_min>1ns")


def test_a_curve_is_judged_point_by_point(assay, endpoint, tmp_path):
    url = endpoint("--ttft", "2ms", "--itl", "1ms", "--osl", "8").url
    done = assay("curve", "--endpoint", url, "--model", "m", "--concurrency", "1,2", "--prompts",
                 "12", "--isl", "30", "--quick", "--quiet", "--json", "--report-dir",
                 tmp_path / "curve", "--allow-client-limited", "--require", "qps>=0.001",
                 "--require", "osl_mean<=7", code=5)
    judged = done.json()["requirements"]
    assert len(judged) == 2
    assert [[v["met"] for v in one["verdicts"]] for one in judged] == [[True, False]] * 2
    assay("report", tmp_path / "curve", "--require", "osl_mean<=8")


def test_what_cannot_be_read_is_refused_before_anything_is_sent(run, tmp_path):
    refused = run("--require", "ttft_p96<=1s", code=2)
    assert "--require: 'ttft_p96<=1s'" in refused.err
    assert not (tmp_path / "run").exists()
    assert "--junit" in run("--junit", "x.xml", code=2).err
