#!/usr/bin/env python3
"""How long after its start `assay run` sends its first query, however many it is asked for.

    bench/first_query.py [--build build/release] [--rounds 20] [--samples 1000,1000000] [--rows 0]

Times are from the program's start to the arrival of the first query behind the test query, at a
server that answers at once; medians, and the longest. `--rows N` asks a JSONL file of N rows in
place of synthetic prompts. Synthetic prompts: wanted below 300 ms, whatever --samples is.
"""

import argparse
import pathlib
import socketserver
import statistics
import subprocess
import tempfile
import threading
import time

from machine import ROOT

BODY = (b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
        b"data: [DONE]\n\n")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
REPLY = HEAD % len(BODY) + BODY


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.queries = []
        self.second = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that is killed resets its connections."""


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            arrived = time.monotonic()
            size = 0
            while (header := self.rfile.readline().strip()):
                if header.lower().startswith(b"content-length:"):
                    size = int(header.split(b":")[1])
            self.rfile.read(size)
            if line.startswith(b"POST"):
                self.server.queries.append(arrived)
                if len(self.server.queries) > 1:
                    self.server.second.set()
            self.wfile.write(REPLY)


def first_query(assay, flags, work):
    with Server() as server:
        began = time.monotonic()
        run = subprocess.Popen(
            [assay, "run", "--endpoint", f"http://127.0.0.1:{server.server_address[1]}", "--model",
             "m", "--concurrency", "16", "--quiet", "--report-dir", work / f"{began}", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.second.wait(120)
        run.kill()
        run.wait()
        server.shutdown()
        return server.queries[1] - began if len(server.queries) > 1 else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--samples", default="1000,100000,1000000")
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        dataset = []
        if options.rows:
            with open(work / "rows.jsonl", "w") as file:
                for i in range(options.rows):
                    file.write('{"prompt": "row %d: %s", "id": %d}\n' % (i, "words of it " * 20, i))
            dataset = ["--dataset", work / "rows.jsonl"]
        for samples in options.samples.split(","):
            flags = ["--samples", samples, *dataset]
            times = [first_query(options.build / "assay", flags, work)
                     for _ in range(options.rounds)]
            print(f"{int(samples):>10,} samples: first query after "
                  f"{statistics.median(times) * 1e3:.0f} ms, longest {max(times) * 1e3:.0f} ms",
                  flush=True)


if __name__ == "__main__":
    main()
