"""The laboratory of faults: evil servers of HTTP/1.1, HTTP/2 and TLS, a mode each (tests/lab).

Of each the client makes what its mode says: the right number, or a failure by its name; no query
waits for its time limit once its failure is known; memory stays within the budget. What takes a
gigabyte each is run by hand: tests/lab/heavy.py.
"""

import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lab import laboratory  # noqa: E402

with tempfile.TemporaryDirectory() as _certificates:
    NAMES = [
        mode.name for mode in laboratory.all_modes(pathlib.Path(_certificates)) if not mode.heavy
    ]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    modes = laboratory.all_modes(tmp_path_factory.mktemp("certificates"))
    light = [mode for mode in modes if not mode.heavy]
    return {mode.name: mode for mode in light}, laboratory.run_all(
        light, tmp_path_factory.mktemp("runs")
    )


@pytest.mark.parametrize("name", NAMES)
def test_mode(ran, name):
    modes, outcomes = ran
    laboratory.judge(modes[name], outcomes[name])
