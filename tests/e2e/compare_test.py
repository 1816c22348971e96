"""assay compare and assay report --definitions on real runs against the built-in endpoint."""

import json
import xml.etree.ElementTree

import pytest

DEFINITIONS = ["assay", "endpoints", "vllm", "sglang", "aiperf", "guidellm", "inference-perf",
               "genai-perf", "otel"]


def measured(assay, url, folder, osl=12):
    assay("run", "--endpoint", url, "--model", "m", "--concurrency", "8", "--samples", "80",
          "--isl", "20", "--osl", osl, "--report-dir", folder, "--quiet", "--json",
          "--allow-client-limited")
    return folder


def held_up(done, result):
    """A machine that held the client up: then nothing may be said, and nothing is."""
    if not result["refusals"]:
        return False
    assert done.code == 6 and all("client" in why for why in result["refusals"])
    return True


@pytest.fixture
def baseline(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "normal:20ms,2ms", "--itl", "2ms", "--osl", "max")
    return measured(assay, server.url, tmp_path / "a")


def test_a_slower_endpoint_is_worse_and_says_by_how_much(assay, endpoint, baseline, tmp_path):
    slow = endpoint("--ttft", "normal:40ms,4ms", "--itl", "4ms", "--osl", "max", "--seed", "2")
    b = measured(assay, slow.url, tmp_path / "b")
    done = assay("compare", baseline, b, "--json", "--junit", tmp_path / "junit.xml", "--github",
                 code=None)
    result = done.json()
    if held_up(done, result):
        return
    assert done.code == 5 and result["verdict"] == "worse"
    by_name = {m["metric"]: m for m in result["metrics"]}
    assert by_name["ttft_p50"]["verdict"] == "worse"
    assert by_name["ttft_p50"]["interval"][0] > 0.5
    assert by_name["tpot_p50"]["effect"] == pytest.approx(1, abs=0.3)
    suite = xml.etree.ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert int(suite.get("failures")) == len(suite.findall(".//failure")) > 0
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    assert "::error title=ttft_p50 is worse::" in done.err
    # The other way round it is better.
    assert "B is the same or better" in assay("compare", b, baseline).out


def test_other_work_is_not_compared(assay, endpoint, baseline, tmp_path):
    server = endpoint("--ttft", "20ms", "--itl", "2ms", "--osl", "max")
    b = measured(assay, server.url, tmp_path / "b", osl=6)
    done = assay("compare", baseline, b, "--junit", tmp_path / "junit.xml", code=6)
    assert "OSL" in done.out and "not comparable" in done.out
    suite = xml.etree.ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert int(suite.get("errors")) >= 1


def test_bad_input_is_named(assay, baseline):
    assert "--metrics" in assay("compare", baseline, baseline, "--metrics", "tpot", code=2).err
    assert "--regression" in assay("compare", baseline, baseline, "--regression", "-1", code=2).err


def test_one_run_in_the_words_of_every_tool(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "20ms", "--itl", "5ms", "--osl", "max", "--quirk", "role-first",
                      "--quirk", "late-done")
    run = measured(assay, server.url, tmp_path / "run")
    table = assay("report", run, "--definitions", "all", "--json").json()
    assert list(table) == DEFINITIONS
    ours = assay("report", run, "--json").json()
    for name, key in [("ttft", "ttft_ns"), ("latency", "latency_ns"), ("tpot", "tpot_ns")]:
        for percentile in ["50.0", "90.0", "99.0"]:
            assert (table["assay"][key]["percentiles"][percentile]
                    == pytest.approx(ours[name]["percentiles"][percentile], rel=1e-9))
    # A role-only event comes at once: to vLLM and OpenTelemetry it is the first token.
    p50 = {name: table[name]["ttft_ns"]["percentiles"]["50.0"] for name in DEFINITIONS}
    assert p50["vllm"] < p50["aiperf"] and p50["otel"] < p50["genai-perf"]
    assert table["aiperf"]["tpot_ns"] is None
    assert table["otel"]["qps"] is None
    text = assay("report", run, "--definitions", "vllm, otel").out
    assert "first event with choices" in text and "guidellm" not in text
    assert "did you mean" in assay("report", run, "--definitions", "vlm", code=2).err


def interleaved(assay, a, b, folder, *flags, block=12, code=None):
    return assay("compare", "--interleave", "--endpoint", a.url, "--endpoint", b.url, "--model",
                 "m", "--concurrency", 4, "--samples", 96, "--block", block, "--isl", 20, "--osl",
                 8, "--report-dir", folder, "--quiet", *flags, code=code)


def test_two_endpoints_in_turns_are_compared_in_pairs(assay, endpoint, tmp_path):
    fast = endpoint("--ttft", "4ms", "--itl", "1ms", "--osl", "max")
    slow = endpoint("--ttft", "12ms", "--itl", "3ms", "--osl", "max")
    done = interleaved(assay, fast, slow, tmp_path / "both", "--json", "--metrics",
                       "ttft_p50,tpot_p50", "--junit", tmp_path / "junit.xml", "--github")
    result = done.json()
    if not held_up(done, result):
        assert result["pairs"] == 8
        assert done.code == (5 if result["verdict"] == "worse" else 0)
        assert all(m["effect"] > 0.3 for m in result["metrics"])
    assert xml.etree.ElementTree.parse(tmp_path / "junit.xml").getroot().tag == "testsuite"
    # Two ordinary run folders, which say the same again.
    sides = [tmp_path / "both" / side for side in "ab"]
    summaries = [assay("report", side, "--json").json() for side in sides]
    for side, summary, server in zip(sides, summaries, [fast, slow]):
        assert summary["n_samples_completed"] == 96
        assert assay("verify", side).code == 0
        assert server.url.split("//")[1] in (side / "config.yaml").read_text()
    again = assay("compare", *sides, "--json", "--metrics", "ttft_p50,tpot_p50", code=done.code)
    assert again.json()["metrics"] == result["metrics"]
    asked = [[sample for phase in json.loads((side / "sample_idx_map.json").read_text()).values()
              for sample in phase.values()] for side in sides]
    assert sorted(asked[0]) == sorted(asked[1]) and len(asked[0]) == 96


def test_by_time_whole_pairs_are_asked_until_it_is_over(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "4ms", "--itl", "1ms", "--osl", "max")
    flags = ["compare", "--interleave", "--endpoint", server.url, "--endpoint", server.url,
             "--model", "m", "--concurrency", 4, "--isl", 20, "--osl", 8]
    done = assay(*flags, "--duration", "2s", "--report-dir", tmp_path / "both", "--json",
                 code=None)
    assert done.code in (0, 5, 6)
    sides = [assay("report", tmp_path / "both" / side, "--json").json() for side in "ab"]
    pairs = {side["n_samples_completed"] for side in sides}
    assert len(pairs) == 1 and pairs.pop() % 20 == 0
    result = done.json()
    assert held_up(done, result) or 6 <= result["pairs"] <= 40
    assert result["pairs"] in (None, sides[0]["n_samples_completed"] // 20)
    # Blocks so small that all that were planned are asked before the time is over.
    done = assay(*flags, "--duration", "1s", "--block", 1, "--report-dir", tmp_path / "small",
                 code=None)
    assert "larger ones (--block) fill the time" in done.err


def test_without_a_length_it_lasts_a_minute(assay, endpoint):
    url = endpoint().url
    help_text = assay("compare", "--interleave", "--help").out
    assert "60 s where none is given" in help_text
    # Refused for another reason: the note is not reached, and no minute passes.
    done = assay("compare", "--interleave", "--endpoint", url, "--endpoint", url, "--model", "m",
                 "--load-pattern", "max_throughput", code=2)
    assert "raise --samples or --duration, or lower --block" in done.err


def test_what_cannot_be_interleaved_is_named(assay, endpoint, tmp_path):
    server = endpoint()
    few = interleaved(assay, server, server, tmp_path / "few", block=20, code=2)
    assert "--block: 96 queries for each endpoint give 4 blocks of 20" in few.err
    assert not (tmp_path / "few").exists()
    threads = interleaved(assay, server, server, tmp_path / "few", "--threads", 2, code=2)
    assert "--threads" in threads.err
    one = assay("compare", "--interleave", "--endpoint", server.url, "--model", "m", "--samples",
                96, code=2)
    assert "--endpoint: two are compared" in one.err
    assert "--block" in assay("compare", "--interleave", "--help").out


def repeated(assay, url, folder, numbers):
    for number in numbers:
        assay("run", "--endpoint", url, "--model", "m", "--concurrency", "4", "--samples", "40",
              "--isl", "20", "--osl", "6", "--report-dir", folder / str(number), "--quiet",
              "--allow-client-limited")
    return folder


def test_equal_runs_say_how_many_show_a_change_and_decide_a_comparison(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "10ms", "--itl", "2ms", "--osl", "max")
    slow = endpoint("--ttft", "20ms", "--itl", "4ms", "--osl", "max")
    allow = "--allow-client-limited"
    equal = repeated(assay, server.url, tmp_path / "equal", range(4))
    noise = assay("noise", equal, "--change", "5%,100%", "--json", allow).json()
    assert noise["runs"] == 4 and not noise["refusals"]
    for metric in noise["metrics"]:
        assert metric["degrees_of_freedom"] == 3 and metric["deviation"] > 0
        small, large = [need["runs_a_side"] or 10**6 for need in metric["needed"]]
        assert 1 <= large <= small
    text = assay("noise", equal, allow).out
    assert "A change of 5 % in" in text and "latency_p90" in text

    # A folder of runs is a side; the answer rests on what equal runs showed.
    b = repeated(assay, slow.url, tmp_path / "b", range(3))
    done = assay("compare", equal, b, "--json", "--metrics", "latency_p50", allow, code=5)
    result = done.json()
    assert result["repeats"] == {"a": 4, "b": 3, "noise": 0, "degrees_of_freedom": 5}
    assert result["metrics"][0]["effect"] == pytest.approx(1, abs=0.3)
    assert any("came before" in note for note in result["notes"])
    # One run a side, by the noise of others.
    one = assay("compare", equal / "0", b / "0", "--noise", equal, "--json", "--metrics",
                "latency_p50", allow, code=5).json()
    assert one["repeats"] == {"a": 1, "b": 1, "noise": 4, "degrees_of_freedom": 3}
    said = assay("compare", equal / "0", equal / "1", "--noise", equal, allow, code=None).out
    assert "4 to learn the noise" in said

    # What are not equal runs is refused by name, and one run teaches nothing.
    other = assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", "4",
                  "--samples", "40", "--isl", "20", "--osl", "12", "--report-dir",
                  tmp_path / "other", "--quiet", allow)
    assert other.code == 0
    refused = assay("compare", equal, b, "--noise", tmp_path / "other", "--json", allow, code=6)
    assert any("other" in why and "OSL" in why for why in refused.json()["refusals"])
    assert "OSL" in assay("noise", equal / "0", tmp_path / "other", allow, code=6).out
    assert "two at least" in assay("noise", equal / "0", code=2).err
    assert "--change" in assay("noise", equal, "--change", "0", code=2).err


def test_a_gate_takes_any_percentile_of_any_series(assay, baseline):
    names = "ttft_p95,ttft_visible_p75,latency_due_p99.9,itl_p80,tpot_p97,qps"
    result = assay("compare", baseline, baseline, "--metrics", names, "--json",
                   "--allow-client-limited").json()
    assert [m["metric"] for m in result["metrics"]] == names.split(",")
    error = assay("compare", baseline, baseline, "--metrics", "ttft_p42", code=2).err
    assert "ttft_p42" in error and "_p95" in error
