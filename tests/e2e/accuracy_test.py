"""How far a run's figures are from what the endpoint did: the reason for all of this.

A machine that is too busy cannot be measured on, and the run has to say so: then, and only then,
the figures may be off. They are held against the endpoint's log and not against its settings: a
busy machine makes the endpoint late, too.
"""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench"))
import truth  # noqa: E402

MS = 1e6


@pytest.mark.parametrize("concurrency, samples", [(1, 4), (16, 64), (64, 256)])
def test_figures_are_the_endpoints_own(assay, endpoint, tmp_path, concurrency, samples):
    log = tmp_path / "truth.log"
    server = endpoint("--ttft", "50ms", "--itl", "10ms", "--osl", 64, "--truth-log", log)
    summary = assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", concurrency,
                    "--samples", samples, "--report-dir", tmp_path / "run", "--quiet", "--json",
                    "--events-jsonl", "--allow-client-limited").json()
    server.stop()
    errors = assay("report", tmp_path / "run", "--truth", log, "--json").json()
    assert errors["replies"] == samples
    assert errors["unmatched"] == 0
    assert errors["token"]["count"] == 64 * samples
    # An arrival before its event was sent would be a fault of the clocks, on any machine.
    assert errors["token"]["p0_1"] >= 0
    sent = truth.sent_instants(tmp_path / "run/events.jsonl")
    of_endpoint = truth.series(truth.read_log(log), sent)
    assert len(sent) == samples

    def off(metric, least=0):
        """How far from the endpoint's own median; `least`: what no endpoint falls below."""
        median = summary[metric]["median"]
        low, high = (truth.percentile([value[i] for value in of_endpoint[metric]], 50)
                     for i in (0, 1))
        assert median >= least
        return max(low - median, median - high, 0)

    good = (off("ttft", 50 * MS) <= 1 * MS and off("tpot", 9 * MS) <= 0.2 * MS
            and errors["token"]["p99"] <= 2 * MS)
    verdict = summary["client"]["client_limited"]
    assert good or verdict != "no", json.dumps({"errors": errors, "client": summary["client"]})
