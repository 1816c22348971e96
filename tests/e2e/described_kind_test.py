"""A kind of API that is in no source file of Assay: a server of a toy API in a page of Python, the
YAML that describes it (docs/formats/kind.md), and every command that asks an endpoint."""

import http.server
import json

import pytest

from conftest import serving

MS = 1e6
TELL = """
kind: tell
route: /tell/{model}
key_header: x-teller
request:
  words: "{prompt}"
  live: "{stream}"
  most: "{output_tokens_max}"
  mood: "{column.mood}"
stream: %s
reply:
  text: {path: piece.say, when: {path: t, is: piece}}
  reasoning: {path: piece.think, when: {path: t, is: piece}}
  finish: why
  end: {path: t, is: over}
  error: {path: what, when: {path: t, is: trouble}}
  usage: {prompt_tokens: bill.heard, output_tokens: bill.said}
whole:
  text: story
  finish: why
  error: what
  usage: {prompt_tokens: bill.heard, output_tokens: bill.said}
"""
LABEL = """
kind: label
route: /label
stream: none
request: {pictures: "{column.pictures}"}
unit: {name: picture, asked: pictures}
reply: {units: labels}
"""


class Toy(http.server.BaseHTTPRequestHandler):
    """POST /tell/MODEL tells `most` words; POST /label names pictures. server.fault: what goes
    wrong with the next stream."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.whole({"data": [{"id": "m"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), asked))
        if self.path == "/label":
            return self.whole({"labels": [f"label {p}" for p in asked["pictures"]]
                               [self.server.fault == "few":]})
        if not self.path.startswith("/tell/") or "words" not in asked:
            return self.whole({"what": "no such thing"}, 404)
        most = asked.get("most", 3)
        bill = {"heard": len(asked["words"].split()), "said": most}
        if not asked["live"]:
            return self.whole({"story": "word " * most, "why": "length", "bill": bill})
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if self.server.lines
                         else "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.event({"t": "hello"})
        for i in range(most):
            if self.server.fault == "trouble" and i == 1:
                self.event({"t": "trouble", "what": "the teller fell ill"})
                break
            self.event({"t": "piece", "piece": {"think" if i == 0 else "say": f"word {i} "}})
        else:
            if self.server.fault != "cut":
                self.event({"t": "over", "why": "length", "bill": bill})
        self.wfile.write(b"0\r\n\r\n")

    def event(self, message):
        text = json.dumps(message) + "\n"
        text = text if self.server.lines else f"data: {text}\n"
        self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())

    def whole(self, message, status=200):
        text = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def toy():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Toy)
    server.asked, server.fault, server.lines = [], None, False
    with serving(server):
        yield server


@pytest.fixture
def measure(assay, toy, tmp_path):
    """measure(text of the kind's file, flags, code=0) -> the summary, the run folder."""

    def go(kind, *flags, code=0):
        file = tmp_path / "kind.yaml"
        file.write_text(kind)
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        done = assay("run", "--endpoint", toy.url, "--model", "m", "--kind", file, "--report-dir",
                     folder, "--quiet", "--json", "--allow-client-limited", *flags, code=code)
        file.unlink()  # what a run needs of it is in its folder
        return json.loads(done.out), folder

    return go


@pytest.mark.parametrize("framing", ["sse", "lines"])
def test_a_stream_has_the_milestones_and_counts_of_any_kind(measure, toy, monkeypatch, framing):
    monkeypatch.setenv("TOY_KEY", "sk-0123456789abcdef")
    toy.lines = framing == "lines"
    summary, folder = measure(TELL % framing, "--samples", 6, "--concurrency", 2, "--isl", 20,
                              "--osl", 5, "--api-key-env", "TOY_KEY")
    assert summary["n_samples_completed"] == 6
    assert summary["output_sequence_lengths"]["total"] == 6 * 5
    assert "percentiles" in summary["ttft"] and "percentiles" in summary["tpot"]
    path, headers, body = toy.asked[-1]
    assert (path, headers["x-teller"]) == ("/tell/m", "sk-0123456789abcdef")
    assert set(body) == {"words", "live", "most"} and (body["live"], body["most"]) == (True, 5)
    written = b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
    assert b"0123456789abcdef" not in written


def test_a_reply_that_is_not_streamed_has_paths_of_its_own(measure, toy):
    summary, _ = measure(TELL % "sse", "--samples", 3, "--osl", 4, "--streaming", "off")
    assert summary["n_samples_completed"] == 3
    assert summary["output_sequence_lengths"]["total"] == 12
    assert "percentiles" not in summary["ttft"]
    assert toy.asked[-1][2]["live"] is False


@pytest.mark.parametrize("fault, outcome", [("trouble", "stream_error"), ("cut", "truncated")])
def test_a_fault_of_the_stream_is_a_failure(measure, toy, fault, outcome):
    toy.fault = fault
    summary, _ = measure(TELL % "sse", "--samples", 2, "--osl", 4, "--no-preflight", code=7)
    assert [(f["outcome"], f["count"]) for f in summary["assay"]["failures"]] == [(outcome, 2)]


def test_a_kind_without_tokens_counts_its_own_unit(measure, toy, assay, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"pictures": ["a", "b", str(i)]}) + "\n" for i in range(4)))
    summary, folder = measure(LABEL, "--dataset", rows, "--samples", 4)
    assert (summary["assay"]["units"]["name"], summary["assay"]["units"]["completed"]) == (
        "picture", 12)
    assert "pictures/s" in assay("report", folder).out
    toy.fault = "few"
    summary, _ = measure(LABEL, "--dataset", rows, "--samples", 2, "--no-preflight", code=7)
    assert summary["assay"]["failures"][0]["outcome"] == "bad_reply"


def test_a_column_of_the_rows_is_sent_where_the_template_has_it(measure, toy, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "hi", "mood": ["calm", 3]}\n')
    measure(TELL % "sse", "--dataset", rows, "--samples", 1)
    assert toy.asked[-1][2]["mood"] == ["calm", 3]


def test_a_run_folder_asks_again_without_the_file(measure, assay, toy, tmp_path):
    _, folder = measure(TELL % "sse", "--samples", 2, "--osl", 3)
    config = next(folder.glob("config*.yaml"))
    again = assay("run", "--config", config, "--report-dir", tmp_path / "again", "--quiet",
                  "--json", "--allow-client-limited").json()
    assert again["n_samples_completed"] == 2
    assay("verify", folder)


def test_two_files_of_one_name_are_not_compared(measure, assay):
    _, left = measure(TELL % "sse", "--samples", 2)
    _, right = measure(TELL.replace("most:", "most_of_all:") % "sse", "--samples", 2)
    assert "api_sha256: A has" in assay("compare", left, right, code=6).out


def test_probe_and_curve_speak_it(assay, toy, tmp_path):
    file = tmp_path / "tell.yaml"
    file.write_text(TELL % "sse")
    found = assay("probe", toy.url, "--kind", file, "--json").json()
    assert found["answers"], found
    assert not [f for f in found["findings"] if f["verdict"] == "bad"], found
    folder = tmp_path / "curve"
    assay("curve", "--endpoint", toy.url, "--model", "m", "--kind", file, "--concurrency", "1,2",
          "--quick", "--prompts", 8, "--isl", 10, "--osl", 5, "--report-dir", folder,
          "--allow-client-limited")
    assert len(list((folder / "points").iterdir())) >= 2


@pytest.mark.parametrize("change, words", [
    (("text: {path: piece.say", "text: {path: piece..say"), "reply.text.path: \"piece..say\""),
    (("words: \"{prompt}\"", "words: \"{promt}\""), "request.words: {promt} is not a slot"),
    (("route: /tell", "rote: /tell"), "did you mean route?"),
    (("kind: tell", "kind: tell\n  x: ["), "kind.yaml:")])
def test_a_mistake_in_the_file_is_named(assay, tmp_path, change, words):
    file = tmp_path / "kind.yaml"
    file.write_text((TELL % "sse").replace(*change))
    done = assay("run", "--endpoint", "http://127.0.0.1:1", "--model", "m", "--kind", file,
                 "--samples", 1, code=2)
    assert words in done.err and str(file) in done.err


@pytest.mark.parametrize("framing", ["sse", "lines"])
def test_the_built_in_endpoint_speaks_it_with_known_truth(assay, endpoint, tmp_path, framing):
    file, truth, folder = tmp_path / "tell.yaml", tmp_path / "truth.log", tmp_path / "run"
    file.write_text(TELL % framing)
    server = endpoint("--kind", file, "--osl", 12, "--ttft", "20ms", "--itl", "2ms", "--reasoning",
                      0.5, "--truth-log", truth, "--api-key", "sk-0123456789abcdef")
    summary = assay("run", "--endpoint", server.url, "--model", "m", "--kind", file, "--samples", 6,
                    "--concurrency", 3, "--isl", 20, "--osl", 12, "--report-dir", folder, "--json",
                    "--quiet", "--allow-client-limited", "--api-key-env", "TOY_KEY",
                    env={"TOY_KEY": "sk-0123456789abcdef"}).json()
    server.stop()
    assert summary["n_samples_completed"] == 6
    assert summary["output_sequence_lengths"]["total"] == 6 * 12
    assert summary["ttft"]["percentiles"]["50.0"] >= 20 * MS
    errors = assay("report", folder, "--truth", truth, "--json").json()
    assert (errors["replies"], errors["unmatched"]) == (6, 0)
    assert errors["token"]["count"] == 6 * 12 and errors["token"]["p0_1"] >= 0


QUIRKS = {"no-done": "truncated", "error-in-stream": "stream_error", "cut-close": "truncated",
          "http500": "http_error", "not-streamed": "ok", "no-usage": "ok", "ragged-chunks": "ok",
          "spaced-json": "ok", "comments": "ok", "multi-data": "ok"}


def test_its_quirks_and_faults_come_to_the_right_outcomes(assay, endpoint, tmp_path):
    file = tmp_path / "tell.yaml"
    file.write_text(TELL % "sse")
    wrong = []
    for name, expected in QUIRKS.items():
        server = endpoint("--kind", file, "--quirk", name, "--osl", 6)
        summary = assay("run", "--endpoint", server.url, "--model", "m", "--kind", file,
                        "--samples", 2, "--report-dir", tmp_path / name, "--json", "--quiet",
                        "--no-preflight", "--allow-client-limited",
                        code=0 if expected == "ok" else 7).json()
        server.stop()
        seen = {"ok": summary["n_samples_completed"],
                **{f["outcome"]: f["count"] for f in summary["assay"]["failures"]}}
        if seen.get(expected) != 2:
            wrong.append(f"{name}: {expected} expected, {seen} seen")
    assert not wrong, "\n".join(wrong)


def test_the_built_in_endpoint_gives_units(assay, endpoint, tmp_path):
    file, rows = tmp_path / "label.yaml", tmp_path / "rows.jsonl"
    file.write_text(LABEL)
    rows.write_text('{"pictures": ["a", "b"]}\n')
    server = endpoint("--kind", file, "--ttft", "5ms")
    summary = assay("run", "--endpoint", server.url, "--model", "m", "--kind", file, "--dataset",
                    rows, "--samples", 3, "--report-dir", tmp_path / "run", "--json", "--quiet",
                    "--allow-client-limited").json()
    assert summary["assay"]["units"]["completed"] == 6
    assert summary["latency"]["min"] >= 5 * MS
