"""The program `assay`: where it is, and one call of it."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from typing import List, Mapping, NamedTuple, Sequence, Union

from assay._errors import AssayError

Value = Union[str, int, float, bool, "os.PathLike[str]", Sequence[Union[str, int, float]], None]


def program() -> str:
    """The path of the program.

    $ASSAY_BIN, then the one that was installed with this package, then one on the PATH.
    """
    named = os.environ.get("ASSAY_BIN")
    if named:
        return named
    # Beside this package's own installation (a wheel's scripts), also below --user and --target.
    package = pathlib.Path(__file__).resolve().parent
    places = [pathlib.Path(sysconfig.get_path("scripts")), pathlib.Path(sys.executable).parent,
              package.parent / "bin"]
    for place in places:
        if os.access(place / "assay", os.X_OK):
            return str(place / "assay")
    found = shutil.which("assay")
    if found is None:
        raise AssayError("the program assay is not installed beside this package, and not on the "
                         "PATH; $ASSAY_BIN may name it")
    return found


def version() -> str:
    """The program's version, as `assay --version` has it."""
    return call(["--version"]).out.split()[-1]


def flags_of(flags: Mapping[str, Value]) -> List[str]:
    """Keyword arguments as flags: osl=32 is --osl=32, quiet=True is --quiet, a list repeats its
    flag; None and False leave it out. A trailing underscore is for Python's own words."""
    words: List[str] = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words.extend(f"{flag}={one}" for one in value)
        else:
            words.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


class Done(NamedTuple):
    code: int
    out: str
    err: str


def words_of(err: str) -> str:
    """What the program said on standard error, without its prefix."""
    lines = [line for line in err.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if line.startswith("error: ")), None)
    if first is None:
        return "\n".join(lines)
    kept = lines[first:]
    return "\n".join(line.replace("error: ", "", 1) if line.startswith("error: ")
                     else line.replace("       ", "", 1) for line in kept)


def call(words: Sequence[str]) -> Done:
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
