"""`assay run` against the built-in endpoint: the figures, the failures, and what a crash leaves."""

import json
import re
import signal
import subprocess

import pytest

from conftest import TIMEOUT_S, program, wait_for_log

MS = 1e6  # result files count nanoseconds


def run_args(url, folder, *more):
    return ["run", "--endpoint", url, "--model", "m", "--report-dir", folder, "--quiet", "--json",
            "--allow-client-limited", *more]


@pytest.fixture
def measure(assay, endpoint, tmp_path):
    """measure(endpoint flags, run flags, code=0) -> the summary, the Server, the run folder."""

    def go(server_flags, run_flags, code=0):
        server = endpoint(*server_flags)
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay(*run_args(server.url, folder, *run_flags), code=code)
        return json.loads(done.out), server, folder

    return go


def failures(summary):
    return {f["outcome"]: f["count"] for f in summary["assay"]["failures"]}


# What each quirk must come to: the outcome of every query, and the tokens that were counted.
OK = "ok"
QUIRKS = {
    "error-in-stream": "stream_error",
    "gzip-forced": "bad_reply",
    "cut-reset": "reset",
    "cut-close": "truncated",
    "http429": "http_error",
    "http500": "http_error",
}
UNCOUNTED = {"no-usage"}
WITHOUT_FIRST_TOKEN = {"empty-reply", "not-streamed"}
# A server that closes kept-alive connections unannounced may close one just as we use it again.
# That query failed and is counted so; which one it hits is the network's choice.
RACES = {"silent-close": {"truncated", "reset"}}


def quirk_names():
    said = subprocess.run([program(), "endpoint", "--quirk", "help"], capture_output=True,
                          text=True, check=True).stdout
    return [line.split()[0] for line in said.splitlines() if line and line[0] != " "]


def test_an_endpoint_that_is_not_there_leaves_no_run_behind(assay, endpoint, tmp_path):
    gone = endpoint()
    gone.stop()
    words = run_args(gone.url, tmp_path / "run", "--samples", 2)
    assert "refused" in assay(*words, code=3).err
    assert not list((tmp_path / "run").rglob("*.alog"))
    again = endpoint("--osl", 2)
    assay(*run_args(again.url, tmp_path / "run", "--samples", 2))


def test_two_threads_ask_what_one_asks(measure):
    asked = []
    for threads in (1, 2):
        summary, _, folder = measure(["--osl", 4], ["--rate", 400, "--samples", 301, "--threads",
                                                    threads, "--events-jsonl"])
        assert (summary["n_samples_issued"], summary["n_samples_completed"]) == (301, 301)
        lines = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
        asked.append(sorted(line["data"][1] for line in lines
                            if line["event_type"] == "sample.issued"))
    assert asked[0] == asked[1]
    assert len(asked[0]) == 301


def test_every_quirk_has_the_right_figures_or_the_right_failure(measure):
    wrong = []
    for name in quirk_names():
        expected = QUIRKS.get(name, OK)
        summary, _, _ = measure(
            ["--quirk", name, "--osl", 16, "--ttft", "5ms", "--itl", "1ms", "--stall", "50ms"],
            ["--concurrency", 2, "--samples", 4, "--query-timeout", "20s"],
            code=0 if expected == OK else 7)
        seen = {OK: summary["n_samples_completed"], **failures(summary)}
        for outcome in RACES.get(name, set()):
            seen[OK] += seen.pop(outcome, 0)
        if seen.get(expected) != 4 or summary["n_samples_issued"] != 4:
            wrong.append(f"{name}: {expected} expected, {seen} seen")
        if expected != OK:
            continue
        tokens = summary["output_sequence_lengths"]
        if name in UNCOUNTED:
            if tokens != {}:
                wrong.append(f"{name}: token counts out of nowhere")
        elif tokens["total"] != summary["n_samples_completed"] * 16:
            wrong.append(f"{name}: {tokens['total']} output tokens")
        assert ("percentiles" in summary["ttft"]) == (name not in WITHOUT_FIRST_TOKEN), name
        if name in WITHOUT_FIRST_TOKEN:
            continue
        ttft = summary["ttft"]["percentiles"]["50.0"] / MS
        # The first event is no token where it is empty; nothing before 5 ms can be one.
        if not 5.0 <= ttft:
            wrong.append(f"{name}: TTFT {ttft} ms is before the first token")
    assert not wrong, "\n".join(wrong)


def test_a_plain_reply_has_latency_and_no_ttft(measure):
    summary, _, _ = measure(["--osl", 8, "--ttft", "5ms"],
                            ["--concurrency", 1, "--samples", 3, "--streaming", "off"])
    assert summary["n_samples_completed"] == 3
    assert summary["latency"]["min"] >= 5 * MS
    assert "percentiles" not in summary["ttft"] and "percentiles" not in summary["tpot"]
    assert summary["output_sequence_lengths"]["total"] == 24


@pytest.mark.parametrize("api", ["openai", "openai_completions", "sglang"])
def test_each_protocol_streams(measure, api):
    summary, _, _ = measure(["--osl", 10], ["--api-type", api, "--concurrency", 2, "--samples", 6])
    assert summary["n_samples_completed"] == 6
    assert summary["output_sequence_lengths"]["total"] == 60


def test_faults_are_counted_exactly_as_the_endpoint_made_them(measure, tmp_path):
    summary, server, _ = measure(
        ["--fault", "reset=0.05,truncate=0.05,http500=0.05", "--osl", 16, "--seed", 7],
        ["--concurrency", 64, "--samples", 1000, "--no-preflight"], code=7)
    assert summary["n_samples_issued"] == 1000
    assert summary["n_samples_completed"] + summary["n_samples_failed"] == 1000
    server.stop()
    said = "".join(server.said)
    seen = failures(summary)
    made = {outcome: int(re.search(rf"\b{fault} ([\d,]+)", said).group(1).replace(",", ""))
            for fault, outcome in (("reset", "reset"), ("truncate", "truncated"),
                                   ("http500", "http_error"))}
    assert seen == made, said


def test_an_open_loop_sends_on_schedule(measure):
    summary, _, _ = measure(["--osl", 4], ["--rate", 200, "--samples", 100])
    assert summary["n_samples_issued"] == 100
    assert summary["assay"]["lateness"]["percentiles"]["50.0"] < 50 * MS


def test_a_dead_port_is_exit_3_and_names_it(assay, tmp_path):
    done = assay(*run_args("http://127.0.0.1:9", tmp_path / "r", "--samples", 1), code=3)
    assert "127.0.0.1:9" in done.err


def test_tls_is_verified_and_insecure_is_recorded(measure, endpoint, assay, tmp_path):
    server = endpoint("--tls", "--osl", 4, "--certificate", tmp_path / "cert.pem")
    refused = assay(*run_args(server.url, tmp_path / "a", "--samples", 2), code=3)
    assert "certificate" in refused.err
    trusted = assay(*run_args(server.url, tmp_path / "b", "--samples", 2, "--ca-file",
                              tmp_path / "cert.pem"))
    assert json.loads(trusted.out)["n_samples_completed"] == 2
    insecure = assay(*run_args(server.url, tmp_path / "c", "--samples", 2, "--insecure"))
    assert json.loads(insecure.out)["n_samples_completed"] == 2
    assert "insecure: true" in (tmp_path / "c" / "config.yaml").read_text()


def test_a_unix_socket_is_an_endpoint(assay, tmp_path):
    path = tmp_path / "s.sock"
    process = subprocess.Popen([program(), "endpoint", "--uds", path, "--osl", "4"],
                               stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        done = assay(*run_args(f"http+unix://{path}", tmp_path / "r", "--samples", 3))
        assert json.loads(done.out)["n_samples_completed"] == 3
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)


def start_long_run(url, folder):
    return subprocess.Popen([program(), *map(str, run_args(url, folder, "--concurrency", 8,
                                                           "--duration", "600s"))],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def test_sigkill_leaves_every_flushed_query_and_says_where_it_ends(endpoint, assay, tmp_path):
    server = endpoint("--osl", 16, "--itl", "1ms")
    process = start_long_run(server.url, tmp_path / "r")
    wait_for_log(tmp_path / "r", process)
    process.kill()
    process.wait(TIMEOUT_S)
    summary = json.loads(assay("report", tmp_path / "r", "--json").out)
    assert summary["complete"] is False
    assert summary["state"] == "crashed"
    assert summary["n_samples_completed"] > 0
    # At the kill eight were in flight: they neither failed nor are they lost from the count.
    counts = summary["assay"]["counts"]
    assert summary["n_samples_failed"] == 0 and 0 < counts["unfinished"] <= 8
    assert counts["issued"] == counts["completed"] + counts["unfinished"]
    told = assay("report", tmp_path / "r")
    assert "the run was cut off" in told.out and "killed" in told.out
    verified = assay("verify", tmp_path / "r", code=1)
    assert "the run was cut off" in verified.out and "run.json" not in verified.out
    imported = assay("import", tmp_path / "r", "--store", tmp_path / "store.db")
    assert "the run was cut off" in imported.err


def test_a_run_killed_before_its_load_leaves_a_folder_that_says_so(assay, endpoint, tmp_path):
    server = endpoint("--osl", 4)
    assay(*run_args(server.url, tmp_path / "r", "--samples", 2))
    # As the kill would have left it.
    for file in (tmp_path / "r").rglob("*"):
        if file.is_file() and file.name != "config.yaml":
            file.unlink()
    for command in (("report",), ("verify",), ("import", "--store", tmp_path / "store.db")):
        assert "ended before its load began" in assay(*command, tmp_path / "r", code=2).err
    assay(*run_args(server.url, tmp_path / "r", "--samples", 2))


def test_one_interrupt_drains_and_the_result_says_so(endpoint, tmp_path):
    server = endpoint("--osl", 16, "--itl", "1ms")
    process = start_long_run(server.url, tmp_path / "r")
    wait_for_log(tmp_path / "r", process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    summary = json.loads(out)
    assert summary["state"] == "interrupted" and summary["complete"] is False
    assert summary["n_samples_failed"] == 0
    assert summary["n_samples_issued"] == summary["n_samples_completed"] > 0


def test_live_figures_are_lines_for_a_program(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "100us")
    assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", "2", "--samples", "30",
          "--report-dir", tmp_path / "run", "--live", tmp_path / "live.jsonl", "--quiet",
          "--allow-client-limited")
    lines = [json.loads(line) for line in (tmp_path / "live.jsonl").read_text().splitlines()]
    assert lines[-1]["completed"] == 30 and lines[-1]["in_flight"] == 0
    assert lines[-1]["ttft_ms"]["count"] == 30
    refused = assay("run", "--endpoint", server.url, "--model", "m", "--samples", "3",
                    "--report-dir", tmp_path / "b", "--live", tmp_path / "none" / "x", code=2)
    assert "--live" in refused.err
