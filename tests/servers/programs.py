"""Starts other people's servers for a test, and ends them."""

import contextlib
import http.client
import pathlib
import socket
import subprocess
import sys
import time

START_S = 180


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def beside_python(name):
    """A program of this environment."""
    return pathlib.Path(sys.executable).parent / name


@contextlib.contextmanager
def running(command, port, ready, folder, env=None):
    """The process, once GET `ready` at the port is answered with 200."""
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen([*map(str, command)], stdout=out, stderr=subprocess.STDOUT,
                                   cwd=folder, env=env)
    try:
        limit = time.monotonic() + START_S
        while True:
            said = log.read_text()[-3000:]
            assert process.poll() is None and time.monotonic() < limit, said
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", ready)
                if connection.getresponse().status == 200:
                    break
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
