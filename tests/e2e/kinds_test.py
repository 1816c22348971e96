"""The kinds of API beyond chat, from `assay run` to the built-in endpoint and back: every kind
brings the milestones, counts and failures that chat brings, and the endpoint's own log agrees."""

import json
import math
import struct
import wave
import zipfile

import pytest

MS = 1e6  # result files count nanoseconds
STREAMED = ["openai_responses", "anthropic_messages", "ollama_chat", "ollama_generate"]
OK = "ok"
# What a quirk must come to; the tokens of an `ok` are counted unless the server does not say.
QUIRKS = {
    "no-done": "truncated",
    "error-in-stream": "stream_error",
    "cut-close": "truncated",
    "http500": "http_error",
    "gzip-forced": "bad_reply",
    "not-streamed": OK,
    "no-usage": OK,
    "hidden-reasoning": OK,
    "split-utf8": OK,
    "ragged-chunks": OK,
    "wrong-content-type": OK,
    "spaced-json": OK,
}
EVENTS_ONLY = {"comments": OK, "pings": OK, "multi-data": OK, "sse-fields": OK}


@pytest.fixture
def measure(assay, endpoint, tmp_path):
    """measure(endpoint flags, run flags, code=0) -> the summary, the run folder."""

    def go(server_flags, run_flags, code=0):
        server = endpoint(*server_flags)
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--endpoint", server.url, "--model", "m", "--report-dir", folder,
                     "--quiet", "--json", "--allow-client-limited", *run_flags, code=code)
        server.stop()
        return json.loads(done.out), folder

    return go


@pytest.mark.parametrize("api", STREAMED)
def test_a_kind_is_measured_as_the_endpoint_wrote_it(assay, measure, tmp_path, api):
    truth = tmp_path / "truth.log"
    summary, folder = measure(
        ["--osl", 24, "--ttft", "20ms", "--itl", "2ms", "--reasoning", 0.5, "--truth-log", truth],
        ["--api-type", api, "--concurrency", 3, "--samples", 9, "--isl", 40, "--osl", 24])
    assert summary["n_samples_completed"] == 9
    assert summary["output_sequence_lengths"]["total"] == 9 * 24
    assert summary["ttft"]["percentiles"]["50.0"] >= 20 * MS
    assert summary["tpot"]["percentiles"]["50.0"] >= 1 * MS
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (9, 0)
    # Every event that brought tokens was heard as one, and none before it was sent.
    assert errors["token"]["count"] == 9 * 24
    assert errors["token"]["p0_1"] >= 0


@pytest.mark.parametrize("api", STREAMED)
def test_each_quirk_of_a_kind_has_the_right_figures_or_the_right_failure(measure, api):
    wrong = []
    quirks = QUIRKS if api.startswith("ollama") else {**QUIRKS, **EVENTS_ONLY}
    for name, expected in quirks.items():
        summary, _ = measure(["--quirk", name, "--osl", 8, "--reasoning", 0.5],
                             ["--api-type", api, "--samples", 2, "--no-preflight"],
                             code=0 if expected == OK else 7)
        seen = {OK: summary["n_samples_completed"],
                **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
        if seen.get(expected) != 2 or summary["n_samples_issued"] != 2:
            wrong.append(f"{name}: {expected} expected, {seen} seen")
        if expected != OK:
            continue
        tokens = summary["output_sequence_lengths"].get("total")
        # Only Responses says how many of the tokens were hidden reasoning.
        told = 8 if name == "hidden-reasoning" and api == "openai_responses" else 16
        if tokens != (None if name == "no-usage" else told):
            wrong.append(f"{name}: {tokens} output tokens")
        if ("percentiles" in summary["ttft"]) == (name == "not-streamed"):
            wrong.append(f"{name}: {summary['ttft']}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("api", STREAMED)
def test_a_plain_reply_of_a_kind_has_latency_and_no_ttft(measure, api):
    summary, _ = measure(["--osl", 8, "--ttft", "5ms"],
                         ["--api-type", api, "--samples", 3, "--streaming", "off"])
    assert summary["n_samples_completed"] == 3
    assert summary["latency"]["min"] >= 5 * MS
    assert "percentiles" not in summary["ttft"]
    assert summary["output_sequence_lengths"]["total"] == 24


@pytest.mark.parametrize("api", STREAMED)
def test_probe_speaks_each_kind_and_names_those_that_a_server_has(assay, endpoint, api):
    server = endpoint("--osl", 12)
    found = assay("probe", server.url, "--api", api, "--json").json()
    assert found["answers"]
    assert {finding["verdict"] for finding in found["findings"]} <= {"good", "note"}, found
    assert set(STREAMED) | {"openai", "openai_completions", "sglang", "openai_image_edits",
                            "openai_videos"} <= set(found["kinds"])


def test_a_key_goes_where_a_kind_wants_it(measure, monkeypatch):
    monkeypatch.setenv("KINDS_KEY", "sk-0123456789abcdef")
    for api in STREAMED:
        summary, folder = measure(["--osl", 4, "--api-key", "sk-0123456789abcdef"],
                                  ["--api-type", api, "--samples", 2, "--api-key-env", "KINDS_KEY"])
        assert summary["n_samples_completed"] == 2, api
        written = b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
        assert b"0123456789abcdef" not in written


VECTORS = ["openai_embeddings", "rerank", "score", "classify", "openai_images", "videogen"]
PIXEL = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
         "DwADhgGAWjR9awAAAABJRU5ErkJggg==")


@pytest.mark.parametrize("api, found_as", [
    ("openai_embeddings", "1 embedding"), ("rerank", "2 documents"), ("score", "2 pairs"),
    ("classify", "1 input"), ("openai_images", "1 image"), ("openai_image_edits", "1 image"),
    ("videogen", "1 video"), ("kserve", "inputs"), ("kserve_json", "inputs")])
def test_probe_asks_for_one_whole_reply_of_a_kind_without_streams(assay, endpoint, api, found_as):
    found = assay("probe", endpoint("--ttft", "3ms").url, "--api", api, "--json").json()
    assert found["answers"] and found["verdict"] == "It answers."
    said = {one["topic"]: one["text"] for one in found["findings"]}
    assert (said.get("reply") or said["tensors"]).startswith(found_as), found
    if "reply" in said:
        down = endpoint("--fault", "http500=1").url
        assert "HTTP 500" in assay("probe", down, "--api", api, code=3).out


@pytest.fixture
def documents(tmp_path):
    """A data set for kinds that ask about documents."""
    path = tmp_path / "rows.jsonl"
    rows = [{"prompt": f"question {i}", "documents": [f"answer {i}", "other", "third"]}
            for i in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("api", VECTORS)
def test_a_kind_without_tokens_has_its_own_unit_and_latencies(assay, measure, documents, api):
    summary, folder = measure(["--ttft", "5ms"],
                              ["--api-type", api, "--concurrency", 2, "--samples", 8,
                               *(["--dataset", documents] if api in ("rerank", "score")
                                 else ["--isl", 20])])
    assert summary["n_samples_completed"] == 8
    units = summary["assay"]["units"]
    each = 3 if api in ("rerank", "score") else 1
    assert (units["completed"], units["per_second"] > 0) == (8 * each, True)
    assert summary["latency"]["min"] >= 5 * MS
    # Nothing is said of tokens that do not exist.
    assert "percentiles" not in summary["ttft"] and "percentiles" not in summary["tpot"]
    assert summary["output_sequence_lengths"] == {}
    assert summary["assay"]["rates"]["tps"] is None
    assert not [w for w in summary["assay"]["warnings"] if "token" in w or "held nothing" in w]
    said = assay("report", folder).out
    assert f"{units['name']}s/s" in said and "latency P90" in said
    assert "tok/s" not in said and "TTFT" not in said


def test_a_ranking_may_be_cut_and_what_was_sent_counts(measure, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "x", "documents": ["a", "b", "c"], "top_n": 2}\n')
    summary, _ = measure([], ["--api-type", "rerank", "--samples", 1, "--dataset", rows])
    assert summary["assay"]["units"]["completed"] == 3


@pytest.mark.parametrize("fault", ["reset", "truncate", "error", "garbage", "http500"])
def test_faults_of_a_kind_without_tokens_are_failures(measure, fault):
    outcome = {"reset": "reset", "truncate": "truncated", "error": "stream_error",
               "garbage": "bad_reply", "http500": "http_error"}[fault]
    summary, _ = measure(["--fault", f"{fault}=1"],
                         ["--api-type", "openai_embeddings", "--samples", 2, "--no-preflight"],
                         code=7)
    assert {f["outcome"]: f["count"] for f in summary["assay"]["failures"]} == {outcome: 2}


def test_several_inputs_of_a_row_are_one_query(measure, tmp_path):
    rows = tmp_path / "inputs.jsonl"
    rows.write_text('{"input": ["a", "b", "c", "d"]}\n')
    summary, _ = measure([], ["--api-type", "openai_embeddings", "--samples", 3,
                              "--dataset", rows])
    assert summary["assay"]["units"] == {
        "name": "embedding", "completed": 12,
        "per_second": summary["assay"]["units"]["per_second"]}


@pytest.mark.parametrize("pictures", [PIXEL, [PIXEL, PIXEL]], ids=["one", "several"])
def test_edits_send_pictures_and_count_those_that_come(measure, tmp_path, pictures):
    rows = tmp_path / "edits.jsonl"
    rows.write_text(json.dumps({"prompt": "a hat", "image": pictures, "mask": PIXEL, "n": 2,
                                "size": "64x64"}) + "\n")
    summary, _ = measure(["--ttft", "5ms"], ["--api-type", "openai_image_edits", "--samples", 4,
                                             "--dataset", rows])
    assert (summary["assay"]["units"]["name"], summary["assay"]["units"]["completed"]) == (
        "image", 8)
    assert summary["latency"]["min"] >= 5 * MS


def test_edits_without_a_picture_are_refused_before_the_run(assay, endpoint):
    said = assay("run", "--endpoint", endpoint().url, "--model", "m", "--isl", 5, "--samples", 1,
                 "--api-type", "openai_image_edits", code=2)
    assert "a column 'image'" in said.err


JOB = ["--api-type", "openai_videos", "--isl", 20, "--poll-interval", "20ms"]


@pytest.mark.parametrize("fetched", [True, False])
def test_a_job_is_polled_to_its_end_and_its_latency_holds_the_truth_within_the_interval(
        assay, measure, tmp_path, fetched):
    truth = tmp_path / "truth.log"
    summary, folder = measure(
        ["--osl", 10, "--ttft", "20ms", "--itl", "5ms", "--truth-log", truth],
        [*JOB, "--concurrency", 2, "--samples", 8, *([] if fetched else ["--no-fetch"])])
    units = summary["assay"]["units"]
    assert (units["name"], units["completed"]) == ("video", 8)
    assert summary["latency"]["min"] >= (20 + 9 * 5) * MS
    assert "percentiles" not in summary["ttft"]
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (8, 0)
    # The truth is when the job was completed: no look saw it earlier.
    assert (errors["latency"]["count"], errors["ttft"]["count"]) == (8, 0)
    assert errors["latency"]["p0_1"] >= 0


@pytest.mark.parametrize("api", ["openai_embeddings", "openai_images", "videogen"])
def test_the_latency_of_a_whole_reply_is_held_against_the_truth(assay, measure, tmp_path, api):
    truth = tmp_path / "truth.log"
    _, folder = measure(["--ttft", "5ms", "--truth-log", truth],
                        ["--api-type", api, "--isl", 20, "--concurrency", 2, "--samples", 8])
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"], errors["latency"]["count"]) == (8, 0, 8)
    assert errors["latency"]["p0_1"] >= 0


JOB_FAULTS = {"reset": "reset", "truncate": "truncated", "error": "stream_error",
              "garbage": "bad_reply", "http500": "http_error", "stall": "timed_out"}


@pytest.mark.parametrize("fault", JOB_FAULTS)
def test_faults_of_a_job_are_failures(measure, fault):
    summary, _ = measure(["--fault", f"{fault}=1", "--osl", 3],
                         [*JOB, "--samples", 2, "--no-preflight", "--query-timeout", "2s"], code=7)
    assert {f["outcome"]: f["count"] for f in summary["assay"]["failures"]} == {
        JOB_FAULTS[fault]: 2}


@pytest.fixture
def sounds(tmp_path):
    """A data set of four tones of a tenth of a second, with transcripts."""
    lines = []
    for i in range(4):
        with wave.open(str(tmp_path / f"tone{i}.wav"), "wb") as tone:
            tone.setnchannels(1)
            tone.setsampwidth(2)
            tone.setframerate(16000)
            tone.writeframes(b"".join(
                struct.pack("<h", int(9000 * math.sin(0.1 * (i + 1) * at))) for at in range(1600)))
        lines.append(json.dumps({"audio": f"tone{i}.wav", "text": "a tone"}) + "\n")
    path = tmp_path / "sounds.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("api", ["openai_transcriptions", "openai_translations"])
def test_a_transcript_is_measured_as_the_endpoint_wrote_it(assay, measure, sounds, tmp_path, api):
    truth = tmp_path / "truth.log"
    summary, folder = measure(
        ["--osl", 12, "--ttft", "20ms", "--itl", "2ms", "--truth-log", truth],
        ["--api-type", api, "--concurrency", 2, "--samples", 8, "--dataset", sounds])
    assert summary["n_samples_completed"] == 8
    assert summary["output_sequence_lengths"]["total"] == 8 * 12
    assert summary["ttft"]["percentiles"]["50.0"] >= 20 * MS
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (8, 0)
    assert errors["token"]["count"] == 8 * 12
    assert errors["token"]["p0_1"] >= 0


def test_a_whole_transcript_has_latency_and_no_ttft(measure, sounds):
    summary, _ = measure(["--osl", 5], ["--api-type", "openai_transcriptions", "--streaming", "off",
                                        "--samples", 4, "--dataset", sounds])
    assert summary["n_samples_completed"] == 4
    assert "percentiles" not in summary["ttft"]
    assert summary["output_sequence_lengths"]["total"] == 20


@pytest.mark.parametrize("name", ["no-done", "error-in-stream", "cut-close", "http500", "comments",
                                  "split-utf8", "ragged-chunks", "wrong-content-type"])
def test_each_quirk_of_a_transcript_comes_to_what_it_comes_to_elsewhere(measure, sounds, name):
    expected = {**QUIRKS, **EVENTS_ONLY}[name]
    summary, _ = measure(["--quirk", name, "--osl", 8],
                         ["--api-type", "openai_transcriptions", "--samples", 2, "--no-preflight",
                          "--dataset", sounds], code=0 if expected == OK else 7)
    seen = {OK: summary["n_samples_completed"],
            **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
    assert seen.get(expected) == 2, seen


# What is said, what is heard, and in Whisper's normal form the words and the wrong ones: "colour"
# is "color", "twenty one" is 21, "isn't" is "is not".
HEARD = [("The colour is red.", "the color is red", 4, 0), ("twenty one cats", "21 dogs", 2, 1),
         ("Mr. Smith isn't here", "mister smith is not there", 5, 1),
         ("Hello, world!", "hello [noise] world", 2, 0)]


def test_the_word_error_rate_of_transcripts_is_the_one_that_the_endpoint_made(measure, sounds,
                                                                             tmp_path):
    rows = [{"audio": f"tone{i}.wav", "transcript": said, "said": heard}
            for i, (said, heard, _, _) in enumerate(HEARD)]
    sounds.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spellings = tmp_path / "english.json"
    spellings.write_text('{"colour": "color"}')
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({
        "endpoint_config": {"api_type": "openai_transcriptions"},
        "datasets": [
            {"path": str(sounds), "type": "performance"},
            {"name": "speech", "path": str(sounds), "type": "accuracy", "accuracy_config": {
                "eval_method": "whisper", "extras": {"spellings": str(spellings)}}}],
        "settings": {"runtime": {"n_samples_to_issue": 4}}}))
    summary, folder = measure(["--answers", f"{sounds},prompt=audio,answer=said"],
                              ["--config", config])
    assert summary["n_samples_completed"] == 4
    scores = json.loads((folder / "accuracy" / "accuracy_results.json").read_text())
    words, wrong = (sum(row[i] for row in HEARD) for i in (2, 3))
    score = scores["accuracy_scores"][0]["score"]
    assert score["word_error_rate"] == pytest.approx(wrong / words)


def test_probe_transcribes_a_tone(assay, endpoint):
    found = assay("probe", endpoint("--osl", 12).url, "--api", "openai_transcriptions",
                  "--json").json()
    assert found["answers"]
    assert {"openai_transcriptions", "videogen", "kserve"} <= set(found["kinds"])


def test_videogen_asks_for_a_path_and_a_row_may_ask_for_bytes(measure, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "a cube", "response_format": "video_bytes", "seed": 7}\n'
                    '{"prompt": "a ball", "negative_prompt": "rain"}\n')
    summary, _ = measure([], ["--api-type", "videogen", "--samples", 4, "--concurrency", 1,
                              "--dataset", rows])
    assert summary["n_samples_completed"] == 4
    assert summary["assay"]["units"]["name"] == "video"


def npy(values):
    """An array of float32 as NumPy saves it."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)}, 2), }}\n"
    flat = [number for row in values for number in row]
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(flat)}f", *flat))


@pytest.fixture
def tensors(tmp_path):
    """A data set of two arrays of six rows."""
    path = tmp_path / "tensors.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("image", "mask"):
            archive.writestr(f"{name}.npy", npy([(i, 0.5) for i in range(6)]))
    return path


@pytest.mark.parametrize("api", ["kserve", "kserve_json"])
def test_tensors_are_asked_and_counted_as_inferences(measure, tensors, api):
    summary, _ = measure(["--ttft", "5ms"],
                         ["--api-type", api, "--concurrency", 2, "--samples", 12,
                          "--dataset", tensors])
    assert summary["n_samples_completed"] == 12
    assert summary["assay"]["units"]["name"] == "inference"
    assert summary["assay"]["units"]["completed"] == 12
    assert summary["latency"]["min"] >= 5 * MS
    assert "percentiles" not in summary["ttft"]


@pytest.mark.parametrize("name,outcome", [("chunked-plain", OK), ("spaced-json", OK),
                                          ("gzip-forced", "bad_reply"), ("http500", "http_error"),
                                          ("cut-close", "truncated")])
def test_quirks_and_faults_of_tensors_come_to_what_they_come_to_elsewhere(measure, tensors, name,
                                                                          outcome):
    summary, _ = measure(["--quirk", name],
                         ["--api-type", "kserve", "--samples", 2, "--dataset", tensors,
                          "--no-preflight"], code=0 if outcome == OK else 7)
    seen = {OK: summary["n_samples_completed"],
            **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
    assert seen.get(outcome) == 2, seen



# The sound of a token of the endpoint's, in seconds and in bytes of pcm.
TOKEN_S, TOKEN_BYTES = 0.024, 1152
SPEECH = ["pcm", "wav", "mp3"]


def spoken(form, events=False):
    """Flags that ask for speech in a format, as bytes or as events."""
    body = {"response_format": form, **({"stream_format": "sse"} if events else {})}
    return ["--api-type", "openai_speech", "--isl", 20, "--extra-body", json.dumps(body)]


@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize("form", SPEECH)
def test_speech_is_measured_as_the_endpoint_wrote_it(assay, measure, tmp_path, form, events):
    truth = tmp_path / "truth.log"
    summary, folder = measure(
        ["--osl", 12, "--ttft", "20ms", "--itl", "2ms", "--truth-log", truth],
        [*spoken(form, events), "--concurrency", 2, "--samples", 8])
    assert summary["n_samples_completed"] == 8
    audio = summary["assay"]["audio"]
    assert audio["first"]["percentiles"]["50.0"] >= 20 * MS
    assert summary["latency"]["min"] >= 42 * MS
    units = summary["assay"]["units"]
    assert (units["name"], units["per_second"]) == ("audiosecond", audio["per_second"])
    if form == "mp3":
        assert (audio["of_unknown_length"], audio["seconds"], audio["per_second"]) == (8, 0, None)
        assert audio["bytes"] == 8 * 12 * 192
    else:
        assert audio["seconds"] == pytest.approx(8 * 12 * TOKEN_S)
        assert audio["bytes"] == 8 * 12 * TOKEN_BYTES  # the head of a file is not a sound
        assert 0 < audio["speed"]["max"] < 12 * TOKEN_S / 0.042 + 0.01
        assert audio["played"] == 8
    # A sound is no token.
    assert "percentiles" not in summary["ttft"] and "percentiles" not in summary["tpot"]
    assert not [w for w in summary["assay"]["warnings"] if "token" in w or "held nothing" in w]
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (8, 0)
    assert errors["token"]["count"] == 8 * 12
    assert errors["token"]["p0_1"] >= 0
    said = assay("report", folder).out
    assert "first audio P90" in said and "TTFT" not in said
    assert ("audio s/s" in said) == (form != "mp3")


def test_a_player_that_begins_at_once_waits_where_sound_comes_slower_than_it_plays(measure):
    slow = spoken("pcm") + ["--samples", 2]
    summary, _ = measure(["--osl", 6, "--itl", "48ms"], slow)
    audio = summary["assay"]["audio"]
    # Five waits of 24 ms each, unless one comes late and the next one catches up.
    assert (audio["played"], audio["waited"]) == (2, 2) and audio["underruns"] >= 2
    assert audio["waits"]["min"] >= 60 * MS
    assert audio["speed"]["max"] < 1
    summary, _ = measure(["--osl", 6], slow + ["--require", "underruns<=0"])
    assert (summary["assay"]["audio"]["waited"], summary["assay"]["audio"]["underruns"]) == (0, 0)


def test_speech_that_comes_whole_has_a_length_and_no_first_sound(measure):
    for server, client in ([], ["--streaming", "off"]), (["--quirk", "not-streamed"], []):
        for form in "pcm", "wav":
            summary, _ = measure(["--osl", 8, *server], [*spoken(form), "--samples", 2, *client])
            audio = summary["assay"]["audio"]
            assert audio["seconds"] == pytest.approx(2 * 8 * TOKEN_S)
            assert audio["played"] == 0 and "percentiles" not in audio["first"]


SPEECH_QUIRKS = {"cut-close": "truncated", "cut-reset": "reset", "http500": "http_error",
                 "gzip-forced": "bad_reply", "empty-reply": "bad_reply", "split-utf8": OK,
                 "ragged-chunks": OK, "wrong-content-type": OK, "close-delimited": OK}


@pytest.mark.parametrize("name", [*SPEECH_QUIRKS, "error-in-stream", "no-done", "comments"])
@pytest.mark.parametrize("events", [False, True])
def test_each_quirk_of_speech_comes_to_what_it_comes_to_elsewhere(measure, name, events):
    # Bytes can say no error, and end with the body.
    expected = SPEECH_QUIRKS.get(name, {
        "error-in-stream": "stream_error" if events else "truncated",
        "no-done": "truncated" if events else OK, "comments": OK}.get(name))
    summary, _ = measure(["--quirk", name, "--osl", 8],
                         [*spoken("wav", events), "--samples", 2, "--no-preflight"],
                         code=0 if expected == OK else 7)
    seen = {OK: summary["n_samples_completed"],
            **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
    assert seen.get(expected) == 2, seen
    if expected == OK:
        assert summary["assay"]["audio"]["bytes"] == 2 * 8 * TOKEN_BYTES


def test_probe_hears_speech_and_says_how_it_comes(assay, endpoint):
    server = endpoint("--osl", 12, "--ttft", "5ms", "--itl", "1ms")
    found = assay("probe", server.url, "--api", "openai_speech", "--json").json()
    assert found["answers"] and "openai_speech" in found["kinds"]
    said = {finding["topic"]: finding["text"] for finding in found["findings"]}
    assert "audio/pcm: 288 ms of sound" in said["sound"]
    assert said["stream"].startswith("12 pieces")
    assert said["events"] == "stream_format sse brings 12 pieces, and counts of tokens"


def test_a_format_or_a_row_that_cannot_be_asked_is_refused_before_the_run(assay, endpoint):
    done = assay("run", "--endpoint", endpoint().url, "--model", "m", *spoken("ogg"),
                 "--samples", 2, code=2)
    assert "response_format: must be one of mp3" in done.err
