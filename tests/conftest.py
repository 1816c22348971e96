"""For tests/e2e and tests/peers: the built program, run as a person runs it.

`assay(...)` runs one command to its end; `endpoint(...)` starts `assay endpoint` on a free port and
gives its URL. Nothing here sleeps: a started endpoint is ready when it has said where it listens.
The program is $ASSAY_BIN, which ctest sets.
"""

import dataclasses
import json
import os
import re
import signal
import subprocess
import threading

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
