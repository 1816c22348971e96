"""Assay in Python: measure GenAI endpoints, and compute on what was recorded.

    import assay

    r = assay.run("http://localhost:8000", model="m", concurrency=16, samples=1000)
    r.summary.ttft.p(95)          # nanoseconds, as `assay run --json` has it
    r.events.to_pandas()          # one row a query; also to_polars(), to_arrow(), numpy
    assay.open("runs/x").fragments  # one row an event of a stream

The commands run the program `assay`, which this package carries; a run's tables are read in
this process, without a copy. `assay.loadgen` has the interface of MLPerf's LoadGen.
The guide: docs/guide/python.md.
"""

from assay._commands import (
    Answer,
    Live,
    LiveRun,
    check,
    command,
    compare,
    probe,
    run,
    run_live,
    score,
    simulate,
    verify,
)
from assay._errors import (
    AssayError,
    BadInput,
    ClientLimited,
    Exhausted,
    Findings,
    Interrupted,
    NotComparable,
    QueriesFailed,
    Unreachable,
    Worse,
)
from assay._figures import Figure, Json, Summary
from assay._program import program, version
from assay._run import Run, open
from assay._table import Column, Table

__all__ = [
    "Answer", "AssayError", "BadInput", "ClientLimited", "Column", "Exhausted", "Figure",
    "Findings", "Interrupted", "Json", "Live", "LiveRun", "NotComparable", "QueriesFailed", "Run",
    "Summary", "Table", "Unreachable", "Worse", "check", "command", "compare", "open", "probe",
    "program", "run", "run_live", "score", "simulate", "verify", "version",
]
