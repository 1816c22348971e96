"""How far a run's figures are from what the endpoint did: the reason for all of this.

A machine that is too busy cannot be measured on, and the run has to say so: then, and only then,
the figures may be off.
"""

import json

import pytest

MS = 1e6


@pytest.mark.parametrize("concurrency, samples", [(1, 4), (16, 64), (64, 256)])
def test_figures_are_the_endpoints_own(assay, endpoint, tmp_path, concurrency, samples):
    truth = tmp_path / "truth.log"
    server = endpoint("--ttft", "50ms", "--itl", "10ms", "--osl", 64, "--truth-log", truth)
    summary = assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", concurrency,
                    "--samples", samples, "--report-dir", tmp_path / "run", "--quiet", "--json",
                    "--allow-client-limited").json()
    server.stop()
    errors = assay("report", tmp_path / "run", "--truth", truth, "--json").json()
    assert errors["replies"] == samples
    assert errors["unmatched"] == 0
    assert errors["token"]["count"] == 64 * samples
    # An arrival before its event was sent would be a fault of the clocks, on any machine.
    assert errors["token"]["p0_1"] >= 0
    good = (abs(summary["ttft"]["median"] - 50 * MS) <= 1 * MS
            and abs(summary["tpot"]["median"] - 10 * MS) <= 0.2 * MS
            and errors["token"]["p99"] <= 2 * MS)
    verdict = summary["client"]["client_limited"]
    assert good or verdict != "no", json.dumps({"errors": errors, "client": summary["client"]})
