"""`assay proxy`: bytes pass as they are, the trace has no text of them, and it replays."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import threading

import pytest

CANARY = "canary-7f3a"


class Proxy:
    """A running `assay proxy`; url is where it listens."""

    def __init__(self, server, record, *args):
        self.process = subprocess.Popen(
            [os.environ["ASSAY_BIN"], "proxy", server, "--record", str(record), "--json",
             *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://"), self.process.stderr.read()
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self, how=signal.SIGINT):
        """Ends it and returns its summary."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == (0 if how == signal.SIGINT else -how), err
        return json.loads(out) if out else None


@pytest.fixture(name="proxy")
def a_proxy():
    with contextlib.ExitStack() as stack:

        def start(*args):
            proxy = Proxy(*args)
            stack.callback(lambda: proxy.process.poll() is None and proxy.stop())
            return proxy

        yield start


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Scripted:
    """A server that answers each connection's requests with given bytes, and keeps what it got."""

    def __init__(self, *replies, hold=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.replies, self.got, self.hold = replies, [], hold
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection:
            for reply in self.replies:
                data = b""
                while b"\r\n\r\n" not in data:
                    data += connection.recv(65536)
                head, _, body = data.partition(b"\r\n\r\n")
                length = [int(line.split(b":")[1]) for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length")]
                while length and len(body) < length[0]:
                    body += connection.recv(65536)
                self.got.append((head, body))
                for piece in reply:
                    connection.sendall(piece)
                    if self.hold:
                        self.hold.wait(60)

    def close(self):
        self.thread.join()
        self.listener.close()


def take(client, size):
    """Reads until as many bytes came."""
    while size > 0:
        piece = client.recv(65536)
        assert piece, "the connection ended early"
        size -= len(piece)


def exchange(port, request):
    """Sends bytes and reads until the other side ends the connection."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(request)
        data = b""
        while piece := client.recv(65536):
            data += piece
        return data


def test_bytes_pass_unchanged_and_each_piece_at_once(proxy, tmp_path):
    body = json.dumps({"messages": [{"role": "user", "content": CANARY}]}).encode()
    head = (b"HTTP/1.1 200 OK\r\nX-Odd:  spaced \r\ncontent-type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
    data = b'data: {"choices":[{"delta":{"content":"' + CANARY.encode() + b'"}}]}\n\n'
    first = head + b"%x;ext=1\r\n" % len(data) + data + b"\r\n"
    rest = b"%X\r\n" % len(data) + data + b"\r\n0\r\nTrailer: x\r\n\r\n"
    more = threading.Event()
    server = Scripted((first, rest), hold=more)
    through = proxy(server.url, tmp_path / "trace.jsonl")
    mark = CANARY.encode()
    request = (b"POST /v1/chat/completions?user=" + mark + b" HTTP/1.1\r\nHost: elsewhere\r\n"
               b"Authorization: Bearer " + mark + b"\r\nX-Mine: 1\r\nConnection: keep-alive\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body) + body)
    with socket.create_connection(("127.0.0.1", through.port)) as client:
        client.sendall(request)
        got = b""
        while len(got) < len(first):  # the server holds back the rest until this is here
            got += client.recv(65536)
        more.set()
        while len(got) < len(first + rest):
            got += client.recv(65536)
    assert got == first + rest
    server.close()
    asked, said = server.got[0]
    assert said == body
    lines = asked.split(b"\r\n")
    assert lines[0] == b"POST /v1/chat/completions?user=" + mark + b" HTTP/1.1"
    assert b"Host: " + server.url[7:].encode() in lines and b"X-Mine: 1" in lines
    assert b"Authorization: Bearer " + mark in lines
    summary = through.stop()
    assert (summary["requests"], summary["whole"]) == (1, 1)
    text = (tmp_path / "trace.jsonl").read_text()
    (row,) = rows_of(tmp_path / "trace.jsonl")
    assert row["status"] == 200 and row["output_length"] == 2
    assert CANARY not in text and "elsewhere" not in text and "canary" not in json.dumps(summary)


def test_a_connection_is_kept_and_any_method_and_path_pass(proxy, endpoint, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "1ms")
    through = proxy(server.url, tmp_path / "out")
    direct = http.client.HTTPConnection(server.url[7:])
    client = http.client.HTTPConnection("127.0.0.1", through.port)
    for method, path in (("GET", "/v1/models"), ("HEAD", "/v1/models"), ("DELETE", "/nowhere?a=b"),
                         ("GET", "/v1/models")):
        got = []
        for connection in (direct, client):
            connection.request(method, path)
            reply = connection.getresponse()
            names = sorted(name.lower() for name, _ in reply.getheaders() if name != "date")
            got.append((reply.status, names, reply.read()))
        assert got[0] == got[1]
        if method == "GET":
            socket_of = client.sock
        assert client.sock is socket_of  # one connection for all of them
    summary = through.stop()
    assert summary["requests"] == 4 and summary["trace"]["other_exchanges"] == 4
    about = json.loads((tmp_path / "out/about.json").read_text())
    assert about["rows"] == 0 and about == summary["trace"]


def test_what_the_server_breaks_is_broken_for_the_client(proxy, tmp_path):
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    server = Scripted((short,))
    through = proxy(server.url, tmp_path / "trace.jsonl")
    body = b'{"prompt": "x"}'
    request = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert exchange(through.port, request + body) == short
    server.close()
    # The server is gone now: the client is told.
    told = exchange(through.port, request + body)
    assert told.startswith(b"HTTP/1.1 502 ") and b"proxy_error" in told
    summary = through.stop()
    assert (summary["broken"], summary["unreached"]) == (1, 1)
    assert [row["status"] for row in rows_of(tmp_path / "trace.jsonl")] == [0, 0]


def test_a_body_in_chunks_goes_on_in_one_piece_and_a_client_that_leaves_is_counted(proxy, tmp_path):
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    more = threading.Event()
    server = Scripted((begun,), hold=more)
    through = proxy(server.url, tmp_path / "trace.jsonl")
    with socket.create_connection(("127.0.0.1", through.port)) as client:
        client.sendall(b"POST http://elsewhere/v1/completions?a=/b HTTP/1.1\r\nHost: elsewhere\r\n"
                       b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b'8\r\n{"prompt\r\n6\r\n":"x"}\r\n0\r\n\r\n')
        take(client, len(begun))
    more.set()
    server.close()
    head, body = server.got[0]
    assert body == b'{"prompt":"x"}'
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /v1/completions?a=/b HTTP/1.1"
    assert b"Content-Length: 14" in lines and b"expect" not in head.lower()
    summary = through.stop()
    # Under way where the proxy ends before it looks at the closed connections.
    assert summary["gone"] + summary["broken"] + summary["stopped"] == 1 and not summary["whole"]
    assert [row["whole"] for row in rows_of(tmp_path / "trace.jsonl")] == [False]


def test_what_is_under_way_when_the_proxy_ends_is_counted_and_recorded(proxy, tmp_path):
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    more = threading.Event()
    server = Scripted((begun,), hold=more)
    through = proxy(server.url, tmp_path / "trace.jsonl")
    with socket.create_connection(("127.0.0.1", through.port)) as client:
        client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n"
                       b'{"prompt":"x"}')
        take(client, len(begun))
        summary = through.stop()
    more.set()
    server.close()
    kinds = ("whole", "broken", "gone", "unreached", "stopped")
    assert [summary[kind] for kind in kinds] == [0, 0, 0, 0, 1] and summary["requests"] == 1
    assert [row["whole"] for row in rows_of(tmp_path / "trace.jsonl")] == [False]


def test_a_trace_replays_to_the_same_lengths_and_reuse(assay, endpoint, proxy, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", "max")
    first = proxy(server.url, tmp_path / "a.jsonl", "--block", 16)
    assay("run", "--endpoint", first.url, "--model", "m", "--rate", 40, "--samples", 60, "--isl",
          "uniform:200-400", "--osl", "uniform:4-20", "--shared-prefix", "100x3", "--report-dir",
          tmp_path / "one", "--no-preflight", "--allow-client-limited")
    summary = first.stop()
    assert summary["trace"]["rows"] == summary["trace"]["input_counted_by_server"] == 60
    again = proxy(server.url, tmp_path / "b.jsonl", "--block", 16)
    assay("run", "--endpoint", again.url, "--model", "m", "--dataset", tmp_path / "a.jsonl",
          "--load-pattern", "trace", "--report-dir", tmp_path / "two", "--no-preflight",
          "--allow-client-limited")
    again.stop()
    a, b = (sorted(rows_of(tmp_path / name), key=lambda row: row["timestamp"])
            for name in ("a.jsonl", "b.jsonl"))
    assert len(a) == len(b) == 60
    # Two that are sent close together may arrive in another order.
    assert sorted(row["output_length"] for row in a) == sorted(row["output_length"] for row in b)
    total = [sum(row["input_length"] for row in rows) for rows in (a, b)]
    assert total[1] == pytest.approx(total[0], rel=0.05)
    # Three prompts in the whole load are the first with their prefix; all others find it again.
    reuse = []
    for rows in (a, b):
        seen, found, all_blocks = set(), 0, 0
        for row in rows:
            found += sum(number in seen for number in row["hash_ids"])
            all_blocks += len(row["hash_ids"])
            seen.update(row["hash_ids"])
        reuse.append(found / all_blocks)
    assert reuse[0] > 0.2
    assert reuse[1] == pytest.approx(reuse[0], abs=0.06)
    span = [rows[-1]["timestamp"] - rows[0]["timestamp"] for rows in (a, b)]
    assert span[1] > span[0] / 2  # at the trace's own instants, not all at once


def test_a_proxy_that_is_killed_leaves_a_trace_of_whole_lines(assay, endpoint, proxy, tmp_path):
    server = endpoint("--ttft", "1ms", "--itl", "1ms")
    through = proxy(server.url, tmp_path / "trace.jsonl")
    client = http.client.HTTPConnection("127.0.0.1", through.port)
    path = tmp_path / "trace.jsonl"
    sent = 0
    while sent < 20 or len(path.read_text().splitlines()) < 3:
        client.request("POST", "/v1/completions", json.dumps({"prompt": "x", "max_tokens": 3}))
        assert client.getresponse().read()
        sent += 1
    through.stop(signal.SIGKILL)
    assert len(rows_of(path)) >= 3
    done = assay("proxy", server.url, "--record", path, code=2)
    assert "exists already" in done.err


def test_an_https_server_is_reached_with_its_certificate_checked(endpoint, proxy, tmp_path):
    server = endpoint("--tls", "--certificate", tmp_path / "cert.pem", "--osl", 3)
    url = server.url.replace("127.0.0.1", "localhost")
    for flags, status in ((["--ca-file", tmp_path / "cert.pem"], 200), ([], 502)):
        through = proxy(url, tmp_path / f"{status}.jsonl", *flags)
        client = http.client.HTTPConnection("127.0.0.1", through.port)
        client.request("POST", "/v1/completions", json.dumps({"prompt": "x", "max_tokens": 3}))
        reply = client.getresponse()
        assert reply.status == status
        text = reply.read().decode()
        assert ("certificate" in text) == (status == 502), text
        through.stop()
    assert rows_of(tmp_path / "200.jsonl")[0]["output_length"] == 3


def test_bad_input_is_said(assay, tmp_path):
    for args, words in ((["http://127.0.0.1:1/v1", "--record", tmp_path / "x.jsonl"], "a path"),
                        (["http://127.0.0.1:1"], "--record"),
                        (["http://127.0.0.1:1", "--record", tmp_path / "x.jsonl", "--block", 0],
                         "--block"),
                        (["nowhere", "--record", tmp_path / "x.jsonl"], "nowhere")):
        assert words in assay("proxy", *args, code=2).err
    assert not (tmp_path / "x.jsonl").exists()


def test_in_the_real_time_class_it_passes_the_same_or_says_what_it_lacks(assay, endpoint, proxy,
                                                                        tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", 4)
    both = assay("proxy", server.url, "--record", tmp_path / "both", "--realtime", "--spin", code=2)
    assert "--realtime: not with --spin" in both.err
    may = True
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        may = False
    if not may:
        refused = assay("proxy", server.url, "--record", tmp_path / "no", "--realtime", code=2)
        assert "CAP_SYS_NICE" in refused.err
        return
    one = proxy(server.url, tmp_path / "trace", "--realtime")
    policies = {os.sched_getscheduler(int(task))
                for task in os.listdir(f"/proc/{one.process.pid}/task")}
    assert policies == {os.SCHED_OTHER, os.SCHED_FIFO}  # the recorder stays an ordinary thread
    assay("run", "--endpoint", one.url, "--model", "m", "--samples", 20, "--concurrency", 3,
          "--report-dir", tmp_path / "run", "--quiet", "--allow-client-limited")
    summary = one.stop()
    assert summary["whole"] == summary["requests"] >= 20
    assert summary["added_ns"]["count"] > 20
