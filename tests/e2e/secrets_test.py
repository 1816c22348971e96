"""A secret that a server echoes appears in no output and in no file of ours."""

import http.server
import json

import pytest

from conftest import serving

KEY = "SEKRIT-KEY-77-0123456789"
TOKEN = "hospital-of-St-Anne-17"


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the headers that it got: as an error, or as its reply, letter by letter."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(200, "application/json", {"data": [{"id": self.headers["Authorization"]}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        echo = f"bad key {self.headers['Authorization']} of {self.headers['X-Service-Token']}"
        if self.server.refuses:
            self.answer(401, "application/json", {"error": {"message": echo}})
        elif asked.get("stream"):
            events = [{"choices": [{"index": 0, "delta": {"content": letter}}]} for letter in echo]
            body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
            self.answer(200, "text/event-stream", body + "data: [DONE]\n\n")
        else:
            self.answer(200, "application/json", {"choices": [{"message": {"content": echo}}]})

    def answer(self, status, kind, body):
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Server", f"echo/{self.headers['Authorization']}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(params=[False, True], ids=["replies", "refuses"])
def echo(request):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.refuses = request.param
    with serving(server):
        yield server.url


def test_what_a_server_echoes_is_in_no_output_and_in_no_file(assay, echo, tmp_path):
    key = {"ASSAY_TEST_KEY": KEY}
    where = ["--endpoint", echo, "--model", "m", "--api-key-env", "ASSAY_TEST_KEY",
             "--header", f"X-Service-Token: {TOKEN}"]
    folder = tmp_path / "run"
    run = assay("run", *where, "--samples", "4", "--concurrency", "2", "--keep-text", "on",
                "--events-jsonl", "--json", "--allow-client-limited", "--report-dir", folder,
                "--no-preflight", env=key, code=None)
    test = assay("run", *where, "--samples", "1", "--report-dir", tmp_path / "other", env=key,
                 code=None)
    probe = assay("probe", echo, "--model", "m", "--api-key-env", "ASSAY_TEST_KEY",
                  "--header", f"X-Service-Token: {TOKEN}", env=key, code=None)
    report = assay("report", folder, code=None)
    said = {"run": run.out + run.err, "test query": test.out + test.err,
            "probe": probe.out + probe.err,
            "report": report.out + report.err}
    for path in folder.rglob("*"):
        if path.is_file():
            said[str(path)] = path.read_bytes().decode("utf-8", "replace")
    assert len(said) > 4, "the run left no files"
    for name, text in said.items():
        for secret in (KEY, TOKEN):
            assert secret not in text, f"{name} has {secret}"
            # Nor what is left of it when it was cut.
            assert secret[:10] not in text, f"{name} has the beginning of {secret}"
