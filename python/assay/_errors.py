"""What goes wrong, with the program's own words and exit code.

An exception is what leaves no result: bad input, no endpoint, a full disk. A verdict (findings, a
limited client, worse than the baseline) is a result; `Answer.raise_for_verdict()` makes it one of
these.
"""

from __future__ import annotations

from typing import Dict, Type


class AssayError(Exception):
    """`str()` is what the program said; `exit_code` is what it ended with."""

    exit_code: int = 1

    def __init__(self, words: str, exit_code: int | None = None) -> None:
        super().__init__(words)
        if exit_code is not None:
            self.exit_code = exit_code


class Findings(AssayError):
    """The command worked and found something wrong; or a fault of Assay's own."""

    exit_code = 1


class BadInput(AssayError, ValueError):
    """A flag, a config, a dataset, a file that is not there."""

    exit_code = 2


class Unreachable(AssayError, OSError):
    """The endpoint can't be reached, or a file can't be read or written."""

    exit_code = 3

    def __str__(self) -> str:
        return str(self.args[0])


class ClientLimited(AssayError):
    """Measured, but the client was, or may have been, the bottleneck."""

    exit_code = 4


class Worse(AssayError):
    """Measured, and worse than the baseline or than what was required."""

    exit_code = 5


class NotComparable(AssayError):
    """Two results that must not be compared."""

    exit_code = 6


class QueriesFailed(AssayError):
    """More than 10 % of the queries failed, or none succeeded."""

    exit_code = 7


class Exhausted(AssayError):
    """Out of memory, or a disk took no more."""

    exit_code = 8


class Interrupted(AssayError):
    """Ctrl-C, a time limit, a budget; everything recorded is kept."""

    exit_code = 130


_BY_CODE: Dict[int, Type[AssayError]] = {
    kind.exit_code: kind
    for kind in (Findings, BadInput, Unreachable, ClientLimited, Worse, NotComparable,
                 QueriesFailed, Exhausted, Interrupted)
}


def error_of(exit_code: int, words: str) -> AssayError:
    """The exception of an exit code; AssayError itself for one that has no name here."""
    return _BY_CODE.get(exit_code, AssayError)(words, exit_code)
