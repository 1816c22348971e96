"""The files we write for other people's tools, read by their own libraries."""

import csv
import io
import json

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from prometheus_client.parser import text_string_to_metric_families


@pytest.fixture
def run(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "normal:10ms,2ms", "--itl", "2ms", "--osl", "max")
    folder = tmp_path / "run"
    assay("run", "--endpoint", server.url, "--model", 'a "b"\\c', "--concurrency", 4, "--samples",
          80, "--osl", 8, "--report-dir", folder, "--quiet", "--json", "--allow-client-limited")
    return folder


def test_hdrhistogram_reads_our_log(assay, run, tmp_path):
    log = tmp_path / "run.hlog"
    assay("report", run, "--format", "hdr", "--out", log)
    summary = assay("report", run, "--json").json()["assay"]["arrival"]
    reader = HistogramLogReader(str(log), HdrHistogram(1, 86_400_000_000_000, 3))
    seen = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        seen[histogram.get_tag()] = histogram
    assert set(seen) == {"ttft", "tpot", "itl", "latency"}
    for name, histogram in seen.items():
        series = summary[name]
        count = {"ttft": 80, "tpot": 80, "latency": 80, "itl": 80 * 7}[name]
        assert histogram.get_total_count() == count
        # Three significant digits: 0.1 %.
        assert histogram.get_max_value() == pytest.approx(series["max"], rel=0.001)
        for percentile in (50.0, 90.0):
            ours = series["percentiles"][str(percentile)]
            near = histogram.get_value_at_percentile(percentile)
            assert near == pytest.approx(ours, rel=0.25 if name == "itl" else 0.1)


def test_prometheus_client_reads_our_text(assay, run):
    text = assay("report", run, "--format", "prometheus").out
    families = {f.name: f for f in text_string_to_metric_families(text)}
    ttft = families["assay_ttft_seconds"]
    assert ttft.type == "summary"
    values = {s.labels.get("quantile", s.name): s.value for s in ttft.samples}
    assert values["assay_ttft_seconds_count"] == 80
    assert 0.001 < values["0.5"] < values["0.99"] < 5
    assert all(s.labels["model"] == 'a "b"\\c' for f in families.values() for s in f.samples)
    assert families["assay_queries_completed"].samples[0].value == 80


def test_csv_and_otlp_by_the_standard_library(assay, run):
    rows = list(csv.DictReader(io.StringIO(assay("report", run, "--format", "csv").out)))
    assert len(rows) == 80 and all(row["outcome"] == "ok" for row in rows)
    assert all(int(row["output_tokens"]) == 8 for row in rows)
    otlp = json.loads(assay("report", run, "--format", "otlp").out)
    metrics = otlp["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    points = {m["name"]: m["histogram"]["dataPoints"][0] for m in metrics}
    duration = points["gen_ai.client.operation.duration"]
    assert int(duration["count"]) == sum(map(int, duration["bucketCounts"])) == 80
    assert duration["sum"] == pytest.approx(sum(float(row["latency_ms"]) for row in rows) / 1e3,
                                            rel=0.2)
