"""What is read beside the load: a page of metrics, its figures in the report and in its JSON, and
what a page that cannot be read comes to."""

import json


def measure(assay, server, folder, *flags, code=0):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 4, "--samples",
                 60, "--osl", 20, "--report-dir", folder, "--quiet", "--json",
                 "--allow-client-limited", *flags, code=code)


def by_measure(summary):
    (window,) = summary["observed"]["windows"]
    return {figure["measure"]: figure for figure in window["measures"]}


def test_the_servers_own_counts_are_those_of_the_client(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    folder = tmp_path / "run"
    done = measure(assay, server, folder, "--metrics", server.url, "--metrics-interval", "50ms",
                   "--no-preflight")
    summary = json.loads(done.out)
    (source,) = summary["observed"]["sources"]
    assert source["kind"] == "page" and source["failed"] == 0 and source["readings"] >= 4
    assert source["took_ns_max"] > 0 and source["cpu_ns"] > 0
    figures = by_measure(summary)
    assert figures["output_tokens"]["name"] == "vllm:generation_tokens_total"
    tokens = summary["output_sequence_lengths"]["total"]
    error = figures["output_tokens"]["delta_error"]
    assert abs(figures["output_tokens"]["delta"] - tokens) <= error + 1e-6
    assert 0 < figures["requests_running"]["mean"] <= figures["requests_running"]["max"] <= 4
    # The report prints the same from the folder alone, and the folder verifies.
    again = json.loads(assay("report", folder, "--json").out)
    assert again["observed"] == summary["observed"]
    assert "requests running" in assay("report", folder).out
    assay("verify", folder)


def test_a_page_that_cannot_be_read_is_an_error_before_the_load(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms")
    done = measure(assay, server, tmp_path / "run", "--metrics", server.url + "/nothing", code=3)
    assert "HTTP 404" in done.err
    assert not (tmp_path / "run").exists()
    measure(assay, server, tmp_path / "run", "--metrics", "no url", code=2)
    measure(assay, server, tmp_path / "run", "--metrics", server.url, "--metrics-interval", "1ms",
            code=2)


def test_a_run_without_telemetry_has_none(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms")
    summary = json.loads(measure(assay, server, tmp_path / "run").out)
    assert "observed" not in summary
    assert not (tmp_path / "run/assay/telemetry.jsonl").exists()
