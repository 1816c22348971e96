"""assay calibrate against the built-in endpoint's truth, and the runs that cite it. Only what holds
on any machine, however busy: no arrival before its truth, no reply that the two logs tell
differently, and the same words wherever a run folder is read."""

import pytest


@pytest.fixture
def data_home(tmp_path):
    return {"XDG_DATA_HOME": str(tmp_path / "data")}


def test_no_arrival_comes_before_its_truth_and_a_run_cites_it(assay, endpoint, data_home,
                                                              tmp_path):
    done = assay("calibrate", "--streams", "4", "--step", "300ms", "--shares", "5,30", "--json",
                 "--tokens", "16", env=data_home)
    certificate, = done.json()
    # One before the ceiling is looked for, and one before each load.
    assert done.err.count("the test query ended ok") >= 3
    assert certificate["ceiling"]["events_per_second"] > 0
    assert certificate["ceiling"]["queries_per_second"] > 0
    assert [level["share"] for level in certificate["levels"]] == [0.05, 0.3]
    for level in certificate["levels"]:
        assert level["replies"] > 0 and level["unmatched"] == 0
        for metric in ["ttft", "latency"]:
            arrival, read = level["arrival_error_ns"][metric], level["read_error_ns"][metric]
            assert arrival["count"] == read["count"] > 0
            # The kernel's wall clock is mapped to the monotonic one to within some µs.
            assert arrival["p0.1"] > -50_000
            assert read["p50"] >= arrival["p50"] - 50_000
    kept = list((tmp_path / "data/assay/certificates").glob("*.json"))
    assert len(kept) == 1

    server = endpoint("--ttft", "10ms", "--itl", "2ms", "--osl", "max")
    run = tmp_path / "run"
    result = assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", "4",
                   "--samples", "40", "--osl", "8", "--report-dir", run, "--json", "--quiet",
                   "--allow-client-limited", env=data_home).json()
    cited = result["calibration"]
    assert 0 < cited["used"] < 1
    assert cited["streams"] == 4
    # From the folder alone, as somebody else reads it.
    assert f"of the capacity proven on {cited['made'][:10]} at 4 streams" in " ".join(
        assay("report", run, env={"XDG_DATA_HOME": str(tmp_path / "nowhere")}).out.split())
    assay("verify", run)


def test_a_table_in_markdown(assay, data_home):
    out = assay("calibrate", "--streams", "2,3", "--step", "200ms", "--shares", "10", "--table",
                "--quiet", env=data_home).out
    rows = [line for line in out.splitlines() if line.startswith("| 2 |") or
            line.startswith("| 3 |")]
    assert len(rows) == 2 + 2 * 3  # ceilings, and three clocks each


def test_bad_input_is_named(assay):
    assert "--shares" in assay("calibrate", "--shares", "10,200", code=2).err
    assert "--streams" in assay("calibrate", "--streams", "many", code=2).err
    assert "--step" in assay("calibrate", "--step", "1ms", code=2).err


def test_what_a_proxy_adds_is_the_difference_of_two_comparisons_with_the_truth(assay):
    done = assay("calibrate", "--proxy", "plain", "--streams", "4", "--rate", "400", "--step",
                 "300ms", "--json", "--quiet")
    cost = done.json()
    assert (cost["proxy_flags"], cost["events_per_second"], cost["streams"]) == ([], 400, 4)
    assert len(cost["rounds"]) == 3
    for one in cost["rounds"]:
        assert one["direct"]["unmatched"] == one["through"]["unmatched"] == 0
        assert one["through"]["first_token_ns"]["count"] == one["through"]["replies"] > 0
    added = sorted(one["through"]["first_token_ns"]["p50"] - one["direct"]["first_token_ns"]["p50"]
                   for one in cost["rounds"])
    assert cost["first_token_added_ns"]["p50"] == added[1]
    assert "--rate" in assay("calibrate", "--proxy", "plain", "--rate", "1", code=2).err
    assert "--streams" in assay("calibrate", "--proxy", "spin", "--streams", "1,2", code=2).err
