"""Runs as other tools' files and back, and a run's own metrics while it goes on."""

import json
import re
import subprocess
import urllib.request

import pytest

from conftest import TIMEOUT_S, program


@pytest.fixture
def run(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "10ms", "--itl", "2ms", "--osl", "max", "--fault", "http500=0.1")
    folder = tmp_path / "run"
    assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 4, "--samples", 60,
          "--osl", 8, "--report-dir", folder, "--quiet", "--json", "--allow-client-limited")
    return folder


def definition(assay, folder, name):
    return assay("report", folder, "--definitions", name, "--json").json()[name]


def close(a, b):
    assert a["count"] == b["count"]
    for percentile, value in a["percentiles"].items():
        assert b["percentiles"][percentile] == pytest.approx(value, rel=1e-6, abs=1000)


@pytest.mark.parametrize("name, metrics", [("vllm", ["ttft_ns", "tpot_ns", "itl_ns", "latency_ns"]),
                                           ("aiperf", ["ttft_ns", "itl_ns", "latency_ns"])])
def test_what_is_exported_and_read_again_gives_the_same_figures(assay, run, tmp_path, name,
                                                                metrics):
    file = tmp_path / "file"
    assay("report", run, "--format", name, "--out", file)
    if name == "vllm":
        whole = json.loads(file.read_text())
        file.write_text(json.dumps({**whole, "rtfx": 1.5, "lab": {"gpu": "x"}}))
    else:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines[0]["metadata"]["lab"] = "x"
        lines[0]["metrics"]["gpu_power"] = {"value": 1, "unit": "W"}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = tmp_path / "again"
    summary = assay("convert", file, again, "--json").json()
    before, after = definition(assay, run, name), definition(assay, again, name)
    assert (before["succeeded"], before["failed"]) == (after["succeeded"], after["failed"])
    for metric in metrics:
        close(before[metric], after[metric])
    assert summary["n_samples_failed"] == before["failed"]
    assay("verify", again)
    # Unknown fields survive.
    out = assay("report", again, "--format", name).out
    if name == "vllm":
        assert json.loads(out)["lab"] == {"gpu": "x"} and json.loads(out)["rtfx"] == 1.5
    else:
        lines = [json.loads(line) for line in out.splitlines()]
        assert sum(line["metadata"].get("lab") == "x" for line in lines) == 1
        assert sum("gpu_power" in line["metrics"] for line in lines) == 1
    # A run that was read can be compared and drawn.
    page = tmp_path / "page.html"
    assay("report", again, "--html", page)
    assert "<svg" in page.read_text()
    verdict = assay("compare", again, again, "--json").json()["verdict"]
    assert verdict in ("same_or_better", "unresolved")


def test_aiperf_s_requests_are_compared_with_a_run_of_ours(assay, run, tmp_path):
    file = tmp_path / "profile_export.jsonl"
    assay("report", run, "--format", "aiperf", "--out", file)
    # Alone it does not say what was asked, and compare says what to give.
    assay("convert", file, tmp_path / "alone", "--json")
    why = "\n".join(assay("compare", run, tmp_path / "alone", "--json", code=6).json()["refusals"])
    for flag in ["--model", "--api-type", "--concurrency 4"]:
        assert f"convert B's file again with {flag}" in why
    told = ["--model", "m", "--api-type", "openai", "--concurrency", 4]
    assay("convert", file, tmp_path / "told", "--json", *told)
    # With AIPerf's figures beside it nothing need be said.
    file.with_name("profile_export_aiperf.json").write_text(json.dumps({
        "input_config": {"endpoint": {"model_names": ["m"], "type": "chat", "streaming": True},
                         "loadgen": {"concurrency": 4}}}))
    assay("convert", file, tmp_path / "beside", "--json")
    for name in ["told", "beside"]:
        result = assay("compare", run, tmp_path / name, "--json", code=None).json()
        assert not [why for why in result["refusals"] if "client" not in why], name
    file.with_name("profile_export_aiperf.json").write_text("{}")
    assert "input_config" in assay("convert", file, tmp_path / "odd", code=2).err
    assert "not both" in assay("convert", file, tmp_path / "odd", "--rate", 1, "--concurrency", 1,
                               code=2).err


def test_every_format_is_written_and_bad_input_is_named(assay, run, tmp_path):
    rows = assay("report", run, "--format", "csv").out.splitlines()
    assert len(rows) == 61 and len(rows[0].split(",")) == 22
    otlp = assay("report", run, "--format", "otlp").json()
    assert otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    assert "HISTFAAA" in assay("report", run, "--format", "hdr").out
    assert "assay_ttft_seconds_count" in assay("report", run, "--format", "prometheus").out
    assay("report", run, "--format", "xml", code=2)
    odd = tmp_path / "odd.json"
    odd.write_text("{}")
    assert "not a file of" in assay("convert", odd, tmp_path / "x", code=2).err
    odd.write_text('{"request_throughput": 1}')
    assert "--save-detailed" in assay("convert", odd, tmp_path / "x", code=2).err


def test_a_run_serves_its_own_metrics_while_it_goes_on(endpoint, tmp_path):
    server = endpoint("--ttft", "10ms", "--itl", "5ms", "--osl", "max")
    process = subprocess.Popen(
        [program(), "run", "--endpoint", server.url, "--model", "m", "--concurrency", "4",
         "--duration", "3s", "--osl", "16", "--report-dir", str(tmp_path / "run"), "--quiet",
         "--json", "--allow-client-limited", "--prometheus", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = re.search(r"http://\S+/metrics", process.stderr.readline()).group()
    seen = ""
    # Until the run shows completed queries: its scraper may come at any moment before.
    while 'assay_queries_completed_total{model="m",phase="performance"}' not in seen \
            or "quantile" not in seen:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:
                assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                seen = reply.read().decode()
        except urllib.error.HTTPError as error:
            assert error.code == 503 and process.poll() is None  # nothing is running yet
    assert "# TYPE assay_queries_in_flight gauge" in seen
    out, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert json.loads(out)["n_samples_completed"] > 0


def test_a_port_that_is_taken_is_an_error_before_the_run(assay, endpoint, tmp_path):
    server = endpoint()
    port = server.url.rsplit(":", 1)[1]
    words = ["run", "--endpoint", server.url, "--model", "m", "--samples", 2, "--report-dir",
             tmp_path / "run"]
    assert "--prometheus" in assay(*words, "--prometheus", port, code=3).err
    assert "--prometheus" in assay(*words, "--prometheus", "here", code=2).err
