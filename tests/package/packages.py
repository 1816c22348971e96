"""For the tests of the packages: how to make them, and to run what they install."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "packaging" / "package.py"
BUILD = pathlib.Path(os.environ.get("ASSAY_BIN", ROOT / "build/release/assay")).resolve().parent
# As root in a namespace of its own, where the tests are run by a user.
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


def run(*command, code=0, **how):
    """What a command printed; fails the test on any other exit code."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **how)
    assert done.returncode == code, (f"{' '.join(map(str, command))}: exit {done.returncode}\n"
                                     f"--- out\n{done.stdout}\n--- err\n{done.stderr}")
    return done.stdout


def packaged(out, *more):
    run(sys.executable, "-B", PACKAGE, "--build", BUILD, "--out", out, *more)
    return {path.name: path for path in out.iterdir()}


def one(dist, ending):
    return next(path for name, path in dist.items() if name.endswith(ending))


class Endpoint:
    """`assay endpoint` of an installed program."""

    def __init__(self, *program):
        self.process = subprocess.Popen(
            [*map(str, program), "endpoint", "--port", "0", "--ttft", "2ms", "--itl", "200us"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = next(word for line in self.process.stdout for word in line.split()
                        if word.startswith("http://"))

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()
