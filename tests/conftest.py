"""For tests/e2e and tests/peers: the built program, run as a person runs it.

`assay(...)` runs one command to its end; `endpoint(...)` starts `assay endpoint` on a free port and
gives its URL, `explorer(...)` an `assay serve`. Nothing here sleeps: a started server is ready when
it has said where it listens.
The program is $ASSAY_BIN, which ctest sets.
"""

import contextlib
import dataclasses
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import urllib.parse

import pytest

TIMEOUT_S = 120


@dataclasses.dataclass
class Done:
    """What a command left: exit code, standard output, standard error."""
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def program():
    return os.environ["ASSAY_BIN"]


@pytest.fixture
def assay():
    """assay("run", "--json", ..., code=0) -> Done; fails the test on any other exit code.

    With code=None the test looks at the exit code itself.
    """

    def run(*args, code=0, timeout=TIMEOUT_S, env=None, cwd=None, stdin=None):
        done = subprocess.run([program(), *map(str, args)], capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, **(env or {})}, cwd=cwd,
                              input=stdin)
        assert code is None or done.returncode == code, (
            f"assay {' '.join(map(str, args))}: exit {done.returncode}, expected {code}\n"
            f"--- out\n{done.stdout}\n--- err\n{done.stderr}")
        return Done(done.returncode, done.stdout, done.stderr)

    return run


def instants(assay, folder):
    """A run's queries in the order asked: uuid -> {event type: the last such event's ns}."""
    events = folder / "events.jsonl"
    assay("report", folder, "--events-jsonl", events, code=None)
    seen = {}
    for event in map(json.loads, events.read_text().splitlines()):
        if event["sample_uuid"]:
            seen.setdefault(event["sample_uuid"], {})[event["event_type"]] = event["timestamp_ns"]
    events.unlink()
    return seen


def wait_for_log(folder, process):
    """Until the run has recorded some of what it does."""
    log = folder / "assay" / "events-0.alog"
    while process.poll() is None:
        if log.exists() and log.stat().st_size > 20_000:
            return
        os.sched_yield()
    pytest.fail("the run ended by itself")


class Server:
    """A running `assay endpoint`; url is where it listens."""

    def __init__(self, args):
        self.process = subprocess.Popen(
            [program(), "endpoint", "--port", "0", *map(str, args)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.said = []
        self.url = None
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"https?://[\w.\[\]:]+:\d+", line)
            if found:
                self.url = found.group()
                break
        assert self.url, "the endpoint ended before it listened:\n" + "".join(self.said)
        # Somebody must read what it says, or a full pipe would stop it.
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stdout))
        self.reader.start()

    def stop(self):
        """Ends it as Ctrl-C does; what it wrote is complete afterwards. Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(TIMEOUT_S)
        self.reader.join()
        return code


@pytest.fixture
def endpoint():
    """endpoint("--ttft", "5ms", ...) -> Server. All are stopped when the test ends."""
    servers = []

    def start(*args):
        servers.append(Server(args))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@contextlib.contextmanager
def serving(server):
    """The server of a test's own answers meanwhile; `place` and `url` are where it listens."""
    server.place = f"127.0.0.1:{server.server_address[1]}"
    server.url = f"http://{server.place}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(TIMEOUT_S)
        server.server_close()


class ChatModel(http.server.ThreadingHTTPServer):
    """A model of the test's own behind chat completions. `reply(server, content)` gives the text of
    a reply, or a status and a document. `asked` has what was asked and `heads` the headers; with
    `whole` a question is a request's whole body. Questions after the first `holds_after` (0: none)
    set `held` and wait for `go`."""

    def __init__(self, reply, known):
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.reply, self.lock, self.whole, self.holds_after = reply, threading.Lock(), False, 0
        self.asked, self.heads = [], []
        self.held, self.go = threading.Event(), threading.Event()
        self.__dict__.update(known)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def stop(self):
        self.go.set()
        self.shutdown()
        self.thread.join(TIMEOUT_S)
        self.server_close()


class ChatHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body if self.server.whole else body["messages"][-1]["content"]
        with self.server.lock:
            self.server.asked.append(content)
            self.server.heads.append(dict(self.headers))
            number = len(self.server.asked)
        if self.server.holds_after and number > self.server.holds_after:
            self.server.held.set()
            self.server.go.wait(TIMEOUT_S)
        said = self.server.reply(self.server, content)
        status, document = said if isinstance(said, tuple) else (200, {
            "id": "1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
        data = json.dumps(document).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # the client was killed
            pass


@pytest.fixture
def chat_model():
    """chat_model(reply, **known) -> ChatModel, which also has what `known` says."""
    servers = []

    def start(reply, **known):
        servers.append(ChatModel(reply, known))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


class Explorer:
    """A running `assay serve`."""

    def __init__(self, *args):
        self.process = subprocess.Popen(
            [program(), "serve", "--port", "0", "--json", *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        told = json.loads(line)
        self.token = told["token"]
        self.host = urllib.parse.urlsplit(told["url"]).netloc
        self.reader = threading.Thread(target=self.process.stderr.read)
        self.reader.start()

    def ask(self, path, method="GET", body=None, **headers):
        """(status, headers, text); the path goes out as it stands."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        all_headers = {"Authorization": f"Bearer {self.token}"}
        all_headers.update({k.replace("_", "-"): v for k, v in headers.items()})
        connection.request(method, path, body=body,
                           headers={k: v for k, v in all_headers.items() if v is not None})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers, text

    def packed(self, path):
        """(headers, bytes as they came) for a reader that accepts gzip."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}",
                                                 "Accept-Encoding": "gzip, deflate"})
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        return reply.headers, content

    def get(self, path):
        status, _, text = self.ask("/api/v1/" + path)
        assert status == 200, text
        return json.loads(text)

    def post(self, path, document, token, **headers):
        return self.ask("/api/v1/" + path, "POST", json.dumps(document),
                        **{"Authorization": f"Bearer {token}", "Content_Type": "application/json",
                           **headers})

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.reader.join()


@pytest.fixture(name="explorer")
def an_explorer():
    servers = []

    def start(*args):
        servers.append(Explorer(*args))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
