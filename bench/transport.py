#!/usr/bin/env python3
"""What the ways to the endpoint cost: HTTP/2 beside h2load, TLS and kernel stamps beside plain.

    bench/transport.py [--build build/release] [--seconds 3] [--rounds 3] [--only NAME] [--json]

The two sides of a row take turns on the same server (or on two of one kind), so that a neighbour's
load hits both; figures are medians of the rounds. Where the server is the limit both come to the
same rate, so CPU a piece stands beside it: that is the client's own.

  http2     replies/s of 100 streams on one connection      rival: h2load, on nghttpd
  tls       CPU an event at 51,000 events/s, 256 streams    rival: the same without TLS
  socket    CPU an event of realtime text, 256 streams      rival: chat's server-sent events
  grpc      CPU a reply of tensors over gRPC, 100 at once   rival: the same over HTTP/2
  stamps    stream events/s, one a write, 1,024 streams     rival: without kernel stamps
  threads   the same with --threads 2 on both cores         rival: --threads 1 on both cores
  plan      what --threads 2 asks, in its order             rival: --threads 1

http2 needs h2load and nghttpd (Debian: nghttp2-client, nghttp2-server); without them it is left
out, and said.
"""

import contextlib
import json
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time

import machine
from load_path import UNSTAMPED, Bench, main
from machine import on_client_core, server

REPLY = {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
         "choices": [{"index": 0, "finish_reason": "stop",
                      "message": {"role": "assistant", "content": "hello"}}],
         "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
BODY = '{"model":"m","messages":[{"role":"user","content":"hello"}],"max_completion_tokens":1024}'
HEADERS = ["content-type: application/json", "accept: application/json",
           "x-request-id: 6453903da20dc42257601d275af3d9f9"]
BOTH = f"{machine.CLIENT_CORE},{machine.SERVER_CORE}"


@contextlib.contextmanager
def both_cores():
    """Clients started inside may run on the server's core too."""
    kept = machine.CLIENT_CORE
    machine.CLIENT_CORE = BOTH
    try:
        yield
    finally:
        machine.CLIENT_CORE = kept


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def nghttpd(folder):
    """The port at which it serves a folder, on the server's core."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(["taskset", "-c", machine.SERVER_CORE, "nghttpd", "--no-tls", "-m",
                                "1000", "-d", folder, str(port)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()


class Transport(Bench):
    def pair(self, name, unit, rival, ours, its, wanted, cost_unit):
        """Two rows: a rate, and the CPU of each piece; `ours` and `its` give (rate, µs)."""
        columns = [(ours(), its()) for _ in range(self.rounds)]
        for i, (unit_i, wanted_i) in enumerate([(unit, wanted), (cost_unit, "")]):
            left, right = (statistics.median(side[i] for side in column)
                           for column in zip(*columns))
            self.row(name, left, unit_i, rival, right, wanted_i)

    def events(self, port, *flags, scheme="http"):
        return self.closed(port, 1024, scheme=scheme, more=flags)[1:]

    def http2(self):
        missing = [name for name in ("h2load", "nghttpd") if not shutil.which(name)]
        if missing:
            print(f"http2: left out, {' and '.join(missing)} not found "
                  "(Debian: nghttp2-client, nghttp2-server)", file=sys.stderr)
            return
        page = self.work / "www" / "v1" / "chat" / "completions"
        page.parent.mkdir(parents=True)
        page.write_text(json.dumps(REPLY))
        (self.work / "body").write_text(BODY)
        with nghttpd(self.work / "www") as port:
            self.pair("100 streams on one connection", "replies/s", "h2load",
                      lambda: self.h2_assay(port), lambda: self.h2load(port), ">= 1.0 x",
                      "µs of CPU a reply")

    def h2_assay(self, port):
        summary = self.run(port, "--concurrency", 100, "--duration", f"{self.seconds}s", "--http",
                           "2", streaming="off")
        if summary["n_samples_failed"]:
            sys.exit("http2: nghttpd's replies were not understood")
        return summary["qps"], 1e6 * summary["own"]["cpu_share"] / summary["qps"]

    def h2load(self, port):
        before = children_cpu()
        said = on_client_core("h2load", "-t1", "-c1", "-m100", "-D", max(1, round(self.seconds)),
                              "-d", self.work / "body",
                              *(word for header in HEADERS for word in ("-H", header)),
                              f"http://127.0.0.1:{port}/v1/chat/completions")
        succeeded = int(said.split(" succeeded,")[0].rsplit(" ", 1)[-1])
        rate = float(said.split("finished in")[1].split(",")[1].split()[0])
        return rate, 1e6 * (children_cpu() - before) / succeeded

    def tls(self):
        """At a rate that the TLS server keeps too: else its slowness is in the client's figure."""
        flags = ("--osl", 64, "--itl", "5ms")

        def one(port, *more, scheme="http"):
            _, rate, cost = self.closed(port, 256, scheme=scheme, more=more)
            rates.setdefault(scheme, []).append(rate)
            return 1e6 / cost, cost

        rates = {}
        with server(self.endpoint(*flags)) as (_, plain), \
                server(self.endpoint(*flags, "--tls")) as (_, tls):
            self.pair("over TLS", "events/s a core", "plain",
                      lambda: one(tls, "--insecure", scheme="https"), lambda: one(plain),
                      ">= 0.6 x", "µs of CPU an event")
        kept = statistics.median(rates["https"]) / statistics.median(rates["http"])
        if kept < 0.9:
            print(f"tls: the TLS server kept only {kept:.2f} of the plain one's rate: no result",
                  file=sys.stderr)

    def socket(self):
        """At a rate that both keep; a turn opens its connection, which its events pay for. Gaps of
        one length would keep streams together that begin together, as chat's do and a session's
        opening does not: their events then share wake-ups, which cost more than events."""
        text = ("--api-type", "realtime", "--extra-body", '{"output_modalities":["text"]}')

        def one(port, *more):
            cost = self.closed(port, 256, osl=256, more=more)[2]
            return 1e6 / cost, cost

        with server(self.endpoint("--osl", 256, "--itl", "normal:5ms,2ms")) as (_, port):
            self.pair("messages of a WebSocket", "events/s a core", "server-sent events",
                      lambda: one(port, *text), lambda: one(port), ">= 0.8 x",
                      "µs of CPU an event")

    def grpc(self):
        """KServe's protocol both times, a tensor of 1 KiB in bytes, on the same server."""
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 256), }".ljust(117) + "\n"
        array = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
        rows = self.work / "x.npy"
        rows.write_bytes(array + bytes(4 * 256))

        def one(port, api, *more):
            summary = self.run(port, "--api-type", api, "--concurrency", 100, "--duration",
                               f"{self.seconds}s", *more, dataset=rows, streaming="off")
            if summary["n_samples_failed"]:
                sys.exit(f"grpc: replies of {api} failed")
            cost = 1e6 * summary["own"]["cpu_share"] / summary["qps"]
            return 1e6 / cost, cost

        with server(self.endpoint()) as (_, port):
            self.pair("tensors over gRPC", "replies/s a core", "over HTTP/2",
                      lambda: one(port, "kserve_grpc"), lambda: one(port, "kserve", "--http", "2"),
                      ">= 0.7 x", "µs of CPU a reply")

    def stamps(self):
        with server(self.endpoint("--osl", 64)) as (_, port):
            self.pair("with kernel stamps", "events/s", "without", lambda: self.events(port),
                      lambda: self.events(port, *UNSTAMPED), ">= 0.95 x", "µs of CPU an event")

    def threads(self):
        with server(self.endpoint("--osl", 64)) as (_, port), both_cores():
            self.pair("--threads 2", "events/s", "--threads 1",
                      lambda: self.events(port, "--threads", 2), lambda: self.events(port), "",
                      "µs of CPU an event")

    def plan(self):
        """Which sample each query of the plan asks, in the plan's order."""
        rows = "".join(f'{{"prompt": "number {i}"}}\n' for i in range(100))
        (self.work / "prompts.jsonl").write_text(rows)

        def asked(port, threads):
            self.run(port, "--concurrency", 32, "--samples", 5000, "--threads", threads,
                     streaming="off")
            found = {}
            exported = subprocess.run([self.assay, "report", self.work / "run", "--format", "csv"],
                                      capture_output=True, text=True, check=True).stdout
            head, *lines = exported.splitlines()
            columns = head.split(",")
            for line in lines:
                fields = dict(zip(columns, line.split(",")))
                found[int(fields["query"])] = fields["sample"]
            return [found[i] for i in sorted(found)]

        with server(self.endpoint("--osl", 1)) as (_, port):
            one, two = asked(port, 1), asked(port, 2)
        same = sum(a == b for a, b in zip(one, two)) if len(one) == len(two) else 0
        self.row("--threads 2 asks what 1 asks", same, "queries alike", "--threads 1", len(one),
                 "= 1.0 x")


CASES = [Transport.http2, Transport.tls, Transport.socket, Transport.grpc, Transport.stamps,
         Transport.threads, Transport.plan]

if __name__ == "__main__":
    main(Transport, CASES, __doc__)
