"""`assay verify`, `bundle` and `key`: a result that was touched is found out."""

import json

import pytest


@pytest.fixture
def run(assay, endpoint, tmp_path):
    """A finished run's folder."""
    folder = tmp_path / "run"
    assay("run", "--endpoint", endpoint("--osl", 8).url, "--model", "m", "--concurrency", 4,
          "--samples", 40, "--report-dir", folder, "--quiet", "--allow-client-limited")
    return folder


def test_an_untouched_run_is_verified(assay, run):
    assert "every figure" in assay("verify", run).out


def test_a_figure_that_was_changed_is_named(assay, run):
    path = run / "performance" / "result_summary.json"
    summary = json.loads(path.read_text())
    summary["ttft"]["percentiles"]["99.0"] *= 0.9
    path.write_text(json.dumps(summary))
    found = json.loads(assay("verify", run, "--json", code=1).out)
    assert any("ttft.percentiles.99.0" in finding["what"] for finding in found["findings"])


def test_an_event_that_was_changed_is_found(assay, run):
    path = run / "assay" / "events-0.alog"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert json.loads(assay("verify", run, "--json", code=1).out)["findings"]


def test_a_signed_bundle_says_who_made_it(assay, run, tmp_path):
    key = tmp_path / "k"
    made = json.loads(assay("key", key, "--json").out)
    assert (key.stat().st_mode & 0o077) == 0
    bundle = tmp_path / "b.tar"
    assay("bundle", run, "-o", bundle, "--key", key)
    said = assay("verify", bundle, "--key", f"{key}.pub").out
    assert made["fingerprint"] in said
    data = bytearray(bundle.read_bytes())
    data[len(data) // 3] ^= 0x10
    bundle.write_bytes(data)
    assay("verify", bundle, code=1)
