"""llama.cpp's own server, on a model with random weights: MLPerf Client's figures of it against a
computation from the event log, and the kinds of API that it speaks."""

import csv
import io
import json
import math
import statistics

import pytest

from conftest import instants
from tiny_llama import served

TENTH_OF_A_MS = 1e-4


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with served(tmp_path_factory.mktemp("llama"), embedding=True) as embeds, \
            served(tmp_path_factory.mktemp("chat")) as chats:
        yield {"embeds": embeds, "chats": chats}


def queries(assay, folder):
    """Each query of the log in the order asked: (seconds to first token, to its end, tokens)."""
    rows = list(csv.DictReader(io.StringIO(assay("report", folder, "--format", "csv",
                                                 code=None).out)))
    return rows


def test_clients_figures_follow_from_the_event_log(assay, port, tmp_path):
    folder = tmp_path / "run"
    done = assay("client", "--port", port["chats"], "--report-dir", folder, code=None, timeout=900)
    assert done.code in (0, 4), done.err
    result = json.loads((folder / "client_result.json").read_text())
    assert result["asked"]["server"] == "llama.cpp"
    assert len(result["categories"]) == 5
    seen = instants(assay, folder)
    tokens = [int(row["output_tokens"]) for row in queries(assay, folder)]
    assert len(seen) == len(tokens) == 10 * 4
    asked = [((one["sample.recv_first"] - one["sample.issued"]) / 1e9,
              (one["sample.complete"] - one["sample.recv_first"]) / 1e9, count)
             for one, count in zip(seen.values(), tokens)]
    ttft, rates = [], []
    for i in range(0, 40, 4):  # of each prompt the first is not counted
        ttft.append(statistics.fmean(one[0] for one in asked[i + 1:i + 4]))
        rates.append(1 / statistics.fmean(one[1] / (one[2] - 1) for one in asked[i + 1:i + 4]))
    for i, category in enumerate(result["categories"]):
        assert abs(category["ttft_s"] - statistics.fmean(ttft[2 * i:2 * i + 2])) < TENTH_OF_A_MS
        ours, by_hand = category["tokens_per_s"], statistics.fmean(rates[2 * i:2 * i + 2])
        assert abs(1 / ours - 1 / by_hand) < TENTH_OF_A_MS and math.isclose(ours, by_hand,
                                                                          rel_tol=1e-3)
    overall = result["overall"]
    for name in ("ttft_s", "tokens_per_s"):
        mean = math.prod(one[name] for one in result["categories"]) ** (1 / 5)
        assert math.isclose(overall[name], mean, rel_tol=1e-9)
    assay("verify", folder)


@pytest.mark.parametrize("api", ["openai", "openai_completions", "anthropic_messages",
                                 "openai_responses"])
def test_kinds_of_text(assay, port, tmp_path, api):
    summary = assay("run", "--endpoint", f"http://127.0.0.1:{port['chats']}", "--model", "tiny",
                    "--api-type", api, "--isl", 30, "--osl", 12, "--samples", 12, "--concurrency",
                    3, "--report-dir", tmp_path / "run", "--quiet", "--json",
                    "--allow-client-limited").json()
    assert summary["n_samples_completed"] == 12 and summary["n_samples_failed"] == 0
    assert 0 < summary["output_sequence_lengths"]["total"] <= 12 * 12
    assert summary["ttft"]["min"] > 0


def test_embeddings(assay, port, tmp_path):
    summary = assay("run", "--endpoint", f"http://127.0.0.1:{port['embeds']}", "--model", "tiny",
                    "--api-type", "openai_embeddings", "--isl", 30, "--samples", 12,
                    "--concurrency", 3, "--report-dir", tmp_path / "run", "--quiet", "--json",
                    "--allow-client-limited").json()
    assert summary["n_samples_completed"] == 12
    found = assay("probe", f"http://127.0.0.1:{port['chats']}", "--json").json()
    assert "openai" in found["kinds"]
