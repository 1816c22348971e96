"""The tables of a run as files, from the command line:

    python -m assay.export runs/x queries.parquet
    python -m assay.export runs/x tokens.arrow --table fragments

`events` has a row a query, `fragments` a row an event of a stream. Both forms are written by
pyarrow. The exit code is the program's: 2 for a run or a name that is wrong, 3 where the file can't
be written.
"""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from assay._errors import AssayError
from assay._run import open as open_run

_FORMS = {".parquet": "to_parquet", ".arrow": "to_arrow_file", ".feather": "to_arrow_file"}


def _fail(words: object, code: int) -> int:
    print(f"error: {words}", file=sys.stderr)
    return code


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m assay.export", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", help="a run's folder, or one event log")
    parser.add_argument("file", metavar="FILE", help="to write: .parquet, .arrow or .feather")
    parser.add_argument("--table", choices=("events", "fragments"), default="events")
    asked = parser.parse_args(arguments)
    form = next((name for ending, name in _FORMS.items() if asked.file.endswith(ending)), None)
    if form is None:
        return _fail(f"FILE: '{asked.file}' ends with none of {', '.join(_FORMS)}", 2)
    try:
        table = getattr(open_run(asked.run), asked.table)
        getattr(table, form)(asked.file)
    except AssayError as mistake:
        return _fail(mistake, mistake.exit_code)
    except ImportError as missing:
        return _fail(f"{missing}\n       pip install pyarrow", 2)
    except OSError as refused:
        return _fail(f"FILE: {refused}", 3)
    print(f"{asked.file}: {len(table):,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
