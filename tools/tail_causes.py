#!/usr/bin/env python3
"""Does `assay report --why` name the cause that was planted? Runs against the built-in endpoint,
each with one real plant, and healthy runs beside them.

    tools/tail_causes.py [--assay build/release/assay] [--seed 1] [--runs 4] [--healthy 8]
                         [--only NAME,…] [--keep FOLDER]

A plant is done to the processes, not to the record: the client or the server is stopped by a
signal, a second client loads the server, the modelled cluster loses its KV cache or its clock, a
relay on the way holds what passes. How strong each one is, and when, is drawn from the seed. Exit
code 1 where fewer than nine in ten runs name the cause first, or a healthy run has a cause.
"""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 14
CLUSTER = {"model": "llama3.1-8b", "hardware": "h100-sxm", "backend": "vllm"}


class Relay:
    """Passes bytes on between clients and one port. While held (SIGUSR1 to SIGUSR2), it holds back
    what the server sends; with `fresh`, new connections instead."""

    def __init__(self, port, fresh):
        self.port, self.fresh = port, fresh
        self.free = asyncio.Event()
        self.free.set()

    async def pump(self, reader, writer, held):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while data := await reader.read(1 << 16):
                if held:
                    await self.free.wait()
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(ConnectionError, RuntimeError):
            writer.close()

    async def serve(self, reader, writer):
        if self.fresh:
            await self.free.wait()
        there = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(self.pump(reader, there[1], False),
                             self.pump(there[0], writer, not self.fresh))

    async def main(self):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.free.clear)
        loop.add_signal_handler(signal.SIGUSR2, self.free.set)
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


class Stage:
    """The processes of one run, all ended when it ends."""

    def __init__(self, assay, folder, seed):
        self.assay, self.folder, self.rng = assay, folder, random.Random(seed)
        self.seed, self.processes = seed, []
        self.acts, self.flags = [], []
        self.at = self.rng.uniform(3, 6)
        self.rate = 30

    def start(self, command):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        return process, process.stdout.readline().strip()

    def serve(self, *flags):
        process, said = self.start([self.assay, "endpoint", "--port", 0, "--quiet", "--seed",
                                    self.seed, *flags])
        self.server = process
        self.url = self.metrics = re.search(r"https?://[^\s]+", said)[0]

    def cluster(self, *faults, **other):
        scenario = {**CLUSTER, "seed": self.seed, "faults": list(faults), **other}
        path = self.folder / "scenario.yaml"
        path.write_text(yaml.safe_dump(scenario))
        self.serve("--scenario", path, "--osl", "max")

    def relay(self, fresh=False):
        port = self.url.rsplit(":", 1)[-1].strip("/")
        process, mine = self.start([sys.executable, __file__, "--relay", port]
                                   + (["--fresh"] if fresh else []))
        self.url = self.url.replace(port, mine)
        return process.pid

    def act(self, **what):
        self.acts.append({"at": f"{self.at:.3f}s", **what})

    def hold(self, pid, seconds):
        self.act(signal={"name": "USR1", "pid": pid}, until=f"{self.at + seconds:.3f}s",
                 undo={"signal": {"name": "USR2", "pid": pid}})

    def beside(self, *flags):
        """A second client, of which the first one's record knows nothing."""
        words = [self.assay, "run", "--endpoint", self.metrics, "--model", "m", "--report-dir",
                 self.folder / "beside", "--quiet", "--no-preflight", "--allow-client-limited",
                 "--run-seed", self.seed + 1, *flags]
        self.act(command=" ".join(str(word) for word in words) + " > /dev/null 2>&1")

    def measure(self, isl=256, osl=64):
        command = [self.assay, "run", "--endpoint", self.url, "--model", "m", "--rate", self.rate,
                   "--duration", f"{SECONDS}s", "--osl", osl, "--run-seed", self.seed,
                   "--report-dir", self.folder / "run", "--quiet", "--metrics", self.metrics,
                   "--metrics-interval", "100ms", "--allow-client-limited", "--warmup",
                   "--warmup-requests", 8, "--warmup-drain", *self.flags]
        if "--class" not in self.flags:
            command += ["--isl", isl]
        if self.acts:
            chaos = self.folder / "chaos.yaml"
            chaos.write_text(yaml.safe_dump({"acts": self.acts}))
            command += ["--chaos", chaos]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, timeout=180)
        if done.returncode != 0:
            raise SystemExit(f"exit {done.returncode}: {done.stderr}")
        told = subprocess.run([self.assay, "report", self.folder / "run", "--why", "--json"],
                              capture_output=True, text=True, check=True)
        return json.loads(told.stdout)["tail"]

    def end(self):
        for process in self.processes:
            process.terminate()
            process.wait()


def client_late(stage):
    """The client is stopped."""
    stage.cluster()
    seconds = stage.rng.uniform(0.8, 2)
    stage.act(command=f"kill -STOP $PPID; sleep {seconds:.3f}; kill -CONT $PPID")


def connect(stage):
    """A new connection's handshake takes long."""
    stage.rate = 10  # handshakes cost the relay
    stage.serve("--tls", "--ttft", "60ms", "--itl", "8ms", "--osl", "max",
                "--quirk", "http10")  # each query opens a connection
    stage.flags += ["--insecure"]
    stage.hold(stage.relay(fresh=True), stage.rng.uniform(0.8, 2))


def long_prompt(stage):
    """A few prompts are many times as long."""
    stage.cluster()
    tokens = stage.rng.randint(20000, 50000)
    stage.flags += ["--class", "chat,share=99,isl=256", "--class", f"doc,share=1,isl={tokens}"]


def cache_miss(stage):
    """Prompts that share a long beginning, and a few of the same length that do not."""
    stage.cluster()
    stage.rate = 12  # long bodies
    tokens = stage.rng.randint(8000, 14000)
    stage.flags += ["--class", f"warm,share=97,isl={tokens + 200},prefix={tokens}x1", "--class",
                    f"cold,share=3,isl={tokens + 200}"]


def queue(stage):
    """A second client takes all of the server's places."""
    stage.serve("--ttft", "60ms", "--itl", "8ms", "--osl", "max", "--concurrency", 40)
    stage.beside("--load-pattern", "max_throughput", "--samples", stage.rng.randint(120, 240),
                 "--isl", 64, "--osl", 64)


def batch(stage):
    """A second client's long streams share the server's steps."""
    stage.cluster(model="gpt-j-6b", hardware="l40s")  # much KV cache a token: a batch costs time
    stage.rate = 12
    stage.beside("--load-pattern", "max_throughput", "--samples", stage.rng.randint(160, 240),
                 "--isl", 64, "--osl", 120)


def preemption(stage):
    """The server loses most of its KV cache."""
    at, left = stage.rng.uniform(7, 9), stage.rng.uniform(0.0008, 0.002)
    stage.cluster({"kind": "shrink_kv", "at": f"{at:.3f}s", "worker": 0, "factor": round(left, 5)},
                  {"kind": "shrink_kv", "at": f"{at + 1.5:.3f}s", "worker": 0, "factor": 1.0})


def stall(stage):
    """The server is stopped."""
    stage.cluster()
    stage.act(pause={"pid": stage.server.pid}, **{"for": f"{stage.rng.uniform(0.8, 2):.3f}s"})


def network(stage):
    """What the server sends is held on the way."""
    stage.cluster()
    stage.hold(stage.relay(), stage.rng.uniform(0.8, 2))


def slow_tokens(stage):
    """The server's steps take several times as long for a while."""
    at, factor = stage.rng.uniform(4, 6), stage.rng.uniform(2.5, 5)
    stage.cluster({"kind": "slow", "at": f"{at:.3f}s", "worker": 0, "factor": round(factor, 3)},
                  {"kind": "slow", "at": f"{at + 2:.3f}s", "worker": 0, "factor": 1.0})


PLANTS = [client_late, connect, long_prompt, cache_miss, queue, batch, preemption, stall, network,
          slow_tokens]


def healthy(stage):
    """Nothing is planted."""
    if stage.seed % 2:
        stage.cluster()
    else:
        stage.serve("--ttft", "60ms", "--itl", "8ms", "--osl", "max")


def told_by(args, plant, seed):
    with tempfile.TemporaryDirectory(prefix="tail_causes") as made:
        folder = pathlib.Path(args.keep or made) / f"{plant.__name__}_{seed}"
        folder.mkdir(parents=True)
        stage = Stage(args.assay, folder, seed)
        try:
            plant(stage)
            return stage.measure()
        finally:
            stage.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=str(ROOT / "build/release/assay"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--healthy", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--relay", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--fresh", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.relay:
        asyncio.run(Relay(args.relay, args.fresh).main())
        return 0
    args.assay = os.path.abspath(args.assay)
    only = args.only.split(",") if args.only else [plant.__name__ for plant in PLANTS] + ["healthy"]
    right = runs = wrong_healthy = 0
    for plant in [plant for plant in PLANTS + [healthy] if plant.__name__ in only]:
        for i in range(args.healthy if plant is healthy else args.runs):
            tail = told_by(args, plant, 1000 * args.seed + i)
            first = tail["first"] or "nothing"
            if plant is healthy:
                wrong_healthy += tail["slow"] > 0
            else:
                runs += 1
                right += first == plant.__name__
            print(f"{plant.__name__:12} {i}  {first:13} {tail['causes']} of {tail['queries']}",
                  flush=True)
    print(f"the planted cause is named first in {right} of {runs} runs; "
          f"{wrong_healthy} healthy runs have a cause")
    return 1 if right < 0.9 * runs or wrong_healthy else 0


if __name__ == "__main__":
    sys.exit(main())
