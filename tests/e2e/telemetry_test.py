"""What is read beside the load: a page of metrics, its figures in the report and in its JSON, and
what a page that cannot be read comes to."""

import json
import pathlib
import subprocess

import pytest


def measure(assay, server, folder, *flags, code=0, samples=60):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 4, "--samples",
                 samples, "--osl", 20, "--report-dir", folder, "--quiet", "--json",
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


@pytest.fixture(name="nvml", scope="module")
def built_nvml(tmp_path_factory):
    library = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library,
                    pathlib.Path(__file__).with_name("fake_nvml.c")], check=True)
    return library


def test_cards_counters_and_a_meter_give_the_energy_of_the_replies(assay, endpoint, tmp_path, nvml):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    zone = tmp_path / "powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "7000000"),
                       ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(text)
    meter = 'while :; do echo "{\\"value\\": 900, \\"label\\": \\"rack\\"}"; sleep 0.02; done'
    done = measure(assay, server, tmp_path / "run", "--meter",
                   f"nvml:{nvml},rapl:{zone.parent},host", "--meter-command", meter,
                   "--metrics-interval", "50ms", samples=240)
    summary = json.loads(done.out)
    kinds = [source["kind"] for source in summary["observed"]["sources"]]
    assert kinds == ["nvml", "rapl", "host", "command"]
    figures = by_measure(summary)
    assert figures["gpu_power_w"]["mean"] == pytest.approx(400)
    assert figures["gpu_busy_share"]["mean"] == pytest.approx(0.5)
    assert figures["gpu_memory_bytes"]["max"] == 120e9
    assert figures["cpu_energy_j"]["delta"] == 0
    assert figures["cpu_busy_s"]["delta"] > 0
    (window,) = summary["observed"]["windows"]
    energy = {one["boundary"]: one for one in window["energy"]}
    seconds = (window["to_ns"] - window["from_ns"]) / 1e9
    # One of two cards has a counter: the power of both is what counts.
    assert energy["gpu"]["from"] == "power"
    assert energy["gpu"]["joules"] == pytest.approx(400 * seconds)
    assert energy["meter"]["watts"] == pytest.approx(900)
    tokens = summary["output_sequence_lengths"]["total"]
    assert energy["meter"]["joules_per_output_token"] == pytest.approx(900 * seconds / tokens)
    assert "J an output token" in assay("report", tmp_path / "run").out


def test_a_meter_that_is_not_there_is_an_error_before_the_load(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms")
    for flags, code in ((["--meter", "nvml:/nowhere/lib.so"], 2),
                        (["--meter", f"rapl:{tmp_path}/none"], 2),
                        (["--meter-command", "exit 3"], 3)):
        measure(assay, server, tmp_path / "run", *flags, code=code)
        assert not (tmp_path / "run").exists()
    done = measure(assay, server, tmp_path / "run", "--meter", "thermometer", code=2)
    assert "nvml" in done.err


def test_why_the_slowest_were_slow(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "2ms", "--osl", 20)
    measure(assay, server, tmp_path / "run", "--metrics", server.url, "--metrics-interval", "50ms")
    tail = json.loads(assay("report", tmp_path / "run", "--why", "--json").out)["tail"]
    assert tail["queries"] == 60
    assert sum(tail["causes"].values()) == tail["slow"] == len(tail["slowest"]) <= 1
    assert "  tail: " in assay("report", tmp_path / "run", "--why").out
    assert "tail" not in json.loads(assay("report", tmp_path / "run", "--json").out)
    assay("report", tmp_path / "run", "--why", "--format", "csv", code=2)
