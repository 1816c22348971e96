"""Turns of the realtime API over a WebSocket, from `assay run` to the built-in endpoint and back:
milestones, sound, counts and failures as other kinds have them; the endpoint's own log agrees."""

import json
import struct

import pytest

MS = 1e6  # result files count nanoseconds
TOKEN_S = 0.024
TOKEN_BYTES = 1152
TEXT = ["--extra-body", json.dumps({"output_modalities": ["text"]})]


@pytest.fixture
def measure(assay, endpoint, tmp_path):
    """measure(endpoint flags, run flags, code=0) -> the summary, the run folder."""

    def go(server_flags, run_flags, code=0):
        server = endpoint(*server_flags)
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--endpoint", server.url, "--model", "m", "--api-type", "realtime",
                     "--report-dir", folder, "--quiet", "--json", "--allow-client-limited",
                     *run_flags, code=code)
        server.stop()
        return json.loads(done.out), folder

    return go


@pytest.mark.parametrize("spoken", [True, False])
def test_a_turn_is_measured_as_the_endpoint_wrote_it(assay, measure, tmp_path, spoken):
    truth = tmp_path / "truth.log"
    summary, folder = measure(
        ["--osl", 12, "--ttft", "20ms", "--itl", "2ms", "--truth-log", truth],
        ["--concurrency", 3, "--samples", 9, "--isl", 40, "--osl", 12, *([] if spoken else TEXT)])
    assert summary["n_samples_completed"] == 9
    assert summary["output_sequence_lengths"]["total"] == 9 * 12
    assert summary["ttft"]["min"] >= 20 * MS
    assert summary["latency"]["min"] >= 42 * MS
    if spoken:
        audio = summary["assay"]["audio"]
        assert (audio["replies"], audio["played"]) == (9, 9)
        assert audio["seconds"] == pytest.approx(9 * 12 * TOKEN_S)
        assert audio["bytes"] == 9 * 12 * TOKEN_BYTES
        assert audio["first"]["min"] >= 20 * MS
    else:
        assert "audio" not in summary["assay"] or summary["assay"]["audio"]["replies"] == 0
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (9, 0)
    assert errors["token"]["count"] == 9 * 12 * (2 if spoken else 1)
    assert errors["token"]["p0_1"] >= 0
    said = assay("report", folder).out
    assert ("first audio P90" in said) == spoken and "TTFT" in said
    assay("verify", folder)


def test_a_slow_speaker_keeps_its_player_waiting(measure):
    summary, _ = measure(["--osl", 6, "--itl", "48ms"], ["--samples", 2, "--isl", 20])
    audio = summary["assay"]["audio"]
    # Five waits of 24 ms each, unless one comes late and the next one catches up.
    assert (audio["played"], audio["waited"]) == (2, 2) and audio["underruns"] >= 2
    assert audio["waits"]["min"] >= 60 * MS


def wav(samples, rate=24_000):
    size = 2 * samples
    return (b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt "
            + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data"
            + struct.pack("<I", size) + bytes(size))


def test_a_sound_is_spoken_at_its_pace_and_the_turn_counts_from_its_end(assay, measure, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"audio": "a.wav"}\n{"audio": "a.wav", "prompt": "What was that?"}\n')
    (tmp_path / "a.wav").write_bytes(wav(6_000))  # 250 ms
    flags = ["--dataset", rows, "--samples", 2, "--concurrency", 1, "--no-salt"]
    truth = tmp_path / "truth.log"
    summary, folder = measure(["--osl", 4, "--ttft", "10ms", "--truth-log", truth], flags)
    assert summary["n_samples_completed"] == 2
    # Waiting and speaking is no part of the latency.
    assert summary["ttft"]["min"] >= 10 * MS
    assert summary["duration_ns"] >= 2 * 250 * MS
    assert assay("report", folder, "--truth", truth, "--json").json()["unmatched"] == 0
    quick, _ = measure(["--osl", 4], [*flags, "--extra-body", '{"pace": "at_once"}'])
    assert quick["n_samples_completed"] == 2
    (tmp_path / "a.wav").write_bytes(wav(6_000, 16_000))
    refused = assay("run", "--endpoint", "http://127.0.0.1:9", "--model", "m", "--api-type",
                    "realtime", *flags, code=2)
    assert "a.wav has 16000 samples a second, and the session hears 24000" in refused.err


QUIRKS = {"cut-close": "truncated", "cut-reset": "reset", "http500": "stream_error",
          "error-in-stream": "stream_error", "no-done": "timed_out", "ragged-chunks": "ok",
          "pings": "ok", "split-event": "ok", "split-utf8": "ok", "spaced-json": "ok",
          "not-streamed": "ok", "no-usage": "ok", "joined-events": "ok", "gzip-forced": "ok",
          "close-delimited": "ok"}


@pytest.mark.parametrize("name", QUIRKS)
def test_each_quirk_comes_to_its_outcome(measure, name):
    expected = QUIRKS[name]
    summary, _ = measure(["--quirk", name, "--osl", 8],
                         ["--samples", 2, "--isl", 20, "--no-preflight", "--query-timeout", "1s"],
                         code=0 if expected == "ok" else 7)
    seen = {"ok": summary["n_samples_completed"],
            **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
    assert seen.get(expected) == 2, seen
    if expected == "ok":
        assert summary["assay"]["audio"]["bytes"] == 2 * 8 * TOKEN_BYTES


@pytest.mark.parametrize("fault, outcome", [
    ("garbage", "bad_reply"), ("stall", "timed_out"), ("http429", "stream_error")])
def test_each_fault_comes_to_its_outcome(measure, fault, outcome):
    summary, _ = measure(["--fault", f"{fault}=1", "--osl", 8],
                         ["--samples", 2, "--isl", 20, "--no-preflight", "--query-timeout", "1s"],
                         code=7)
    assert {f["outcome"]: f["count"] for f in summary["assay"]["failures"]} == {outcome: 2}


def test_a_wrong_key_is_told_as_the_server_says_it(assay, endpoint, tmp_path):
    server = endpoint("--api-key", "right")
    done = assay("run", "--endpoint", server.url, "--model", "m", "--api-type", "realtime",
                 "--samples", 1, "--isl", 10, "--report-dir", tmp_path / "r", code=None)
    assert done.code != 0
    assert "HTTP 401: Incorrect API key provided." in done.out + done.err


def test_http2_is_refused(assay, endpoint):
    done = assay("run", "--endpoint", endpoint().url, "--model", "m", "--api-type", "realtime",
                 "--http", "2", "--samples", 1, "--isl", 10, code=2)
    assert "leave --http 2 out" in done.err


def test_probe_finds_and_hears_it(assay, endpoint):
    server = endpoint("--osl", 12, "--ttft", "5ms", "--itl", "1ms")
    found = assay("probe", server.url, "--api", "realtime", "--json").json()
    assert found["answers"] and "realtime" in found["kinds"]
    assert found["streamed"]["fragments"] >= 12
    assert found["streamed"]["usage"]["completion_tokens"] == 12


def test_a_curve_of_turns(assay, endpoint, tmp_path):
    server = endpoint("--osl", 8, "--ttft", "2ms", "--itl", "1ms")
    assay("curve", "--endpoint", server.url, "--model", "m", "--api-type", "realtime",
          "--concurrency", "1,2", "--isl", 20, "--quick", "--max-duration", "1s", "--report-dir",
          tmp_path / "curve", "--quiet", "--allow-client-limited")
    assert "tok" in assay("report", tmp_path / "curve").out
