"""A recorded run."""

from __future__ import annotations

import json
import math
import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Optional, Union

from assay._errors import error_of
from assay._figures import Json, Summary, table_html
from assay._program import call, words_of
from assay._table import Handle, Table

if TYPE_CHECKING:
    import numpy

# Where the values of a series are.
_SERIES = {
    "ttft": ("events", "ttft_ns"), "ttft_due": ("events", "ttft_due_ns"),
    "ttft_visible": ("events", "ttft_visible_ns"), "tpot": ("events", "tpot_ns"),
    "latency": ("events", "latency_ns"), "latency_due": ("events", "latency_due_ns"),
    "first_audio": ("events", "first_audio_ns"),
    "itl": ("fragments", "gap_ns"), "isl": ("events", "input_tokens"),
    "osl": ("events", "output_tokens"),
}


class Run:
    """A run's folder, or one event log. Tables and figures are read when first asked for."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = pathlib.Path(path)
        self._handle: Optional[Handle] = None
        self._summary: Optional[Summary] = None
        self._tables: Dict[int, Table] = {}

    @property
    def _opened(self) -> Handle:
        if self._handle is None:
            self._handle = Handle(os.fspath(self.path))
        return self._handle

    def _table(self, number: int) -> Table:
        if number not in self._tables:
            self._tables[number] = Table(self._opened, number)
        return self._tables[number]

    @property
    def events(self) -> Table:
        """One row a query, of every phase, also of those that failed."""
        return self._table(0)

    @property
    def fragments(self) -> Table:
        """One row an event of a reply's stream; `row` is the query's row in `events`."""
        return self._table(1)

    @property
    def info(self) -> Json:
        """The run's facts: run_id, phases, facts, state, clock_offset_ns, …"""
        said: Json = json.loads(self._opened.info())
        return said

    @property
    def summary(self) -> Summary:
        """The figures of `assay report --json`."""
        if self._summary is None:
            done = call(["report", "--json", "--", os.fspath(self.path)])
            if done.code:
                raise error_of(done.code, words_of(done.err))
            self._summary = Summary(json.loads(done.out))
        return self._summary

    @property
    def point(self) -> Summary:
        """The same as `summary`: the run as one point of a curve."""
        return self.summary

    def series(self, name: str) -> "numpy.ndarray[Any, Any]":
        """The values of which a figure is made (ttft, tpot, itl, latency, …), in no order."""
        import numpy  # pylint: disable=import-outside-toplevel

        if name not in _SERIES:
            raise ValueError(f"no series {name!r}; there are {', '.join(_SERIES)}")
        table_name, column_name = _SERIES[name]
        table: Table = getattr(self, table_name)
        column = table[column_name]
        wanted = numpy.logical_and(table["measured"].values, column.valid)
        if name in ("isl", "osl"):
            outcome = table["outcome"]
            ok = (outcome.words or []).index("ok")
            wanted = numpy.logical_and(wanted, outcome.values == ok)
        values: "numpy.ndarray[Any, Any]" = column.values[wanted]
        return values

    def percentile(self, name: str, p: float) -> Optional[float]:
        """Any percentile from 0 to 100 of a series, by the rule of every result of Assay: a value
        that occurred, sorted[floor(p / 100 × (n − 1))]. None where the series is empty."""
        import numpy  # pylint: disable=import-outside-toplevel

        if not 0 <= p <= 100:
            raise ValueError("a percentile is from 0 to 100")
        values = self.series(name)
        if len(values) == 0:
            return None
        place = math.floor(p / 100 * (len(values) - 1))
        return float(numpy.partition(values, place)[place])

    def __repr__(self) -> str:
        return f"<run {self.path}>"

    def _repr_html_(self) -> str:
        facts = self.info
        top = table_html(["run", "model", "started with", "state"],
                         [[str(self.path), str(facts["facts"].get("model", "")),
                           f"assay {facts['assay']}", facts["state"]]])
        return top + self.summary._repr_html_()  # pylint: disable=protected-access


def open(path: Union[str, "os.PathLike[str]"]) -> Run:  # pylint: disable=redefined-builtin
    """A run's folder (or an event log), checked: BadInput where there is none."""
    run = Run(path)
    run._opened  # pylint: disable=protected-access,pointless-statement
    return run
