"""What the benchmarks share: programs built when needed, servers on a core, what a process used.

The server has CPU 1 and the client CPU 0. A benchmark ends well whatever the figures are: it
measures; BASELINES.md says what was seen and what is wanted.
"""

import contextlib
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIENT_CORE, SERVER_CORE = "0", "1"


def prepare():
    """Two cores, and as many descriptors as the system gives."""
    if os.cpu_count() < 2:
        sys.exit("the benchmarks need two cores")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def compiled(name, build):
    """One of our one-file rivals, built with the optimisation that its fame deserves."""
    program = build / "bench" / name
    source = ROOT / "bench" / f"{name}.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-std=c++20", "-O2", "-o", program, source], check=True)
    return program


def waited(pid):
    """Seconds that the threads of a process were ready and had no core."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += int((task / "schedstat").read_text().split()[1])
    return total * 1e-9


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def server(command):
    """(process, port) of a server that says its port, or a URL ending in it, when it listens."""
    process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *map(str, command)], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        first = process.stdout.readline().strip()
        yield process, first.rsplit(":", 1)[-1]
    finally:
        process.terminate()
        process.wait()


def on_client_core(*command):
    """A command on the client's core, to its end; its standard output."""
    done = subprocess.run(["taskset", "-c", CLIENT_CORE, *map(str, command)], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout
