"""`assay verify`, `bundle` and `key`: a result that was touched is found out."""

import hashlib
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


def test_the_derived_files_can_be_made_of_the_recorded_ones(assay, run, tmp_path):
    bare = tmp_path / "bare"
    (bare / "assay").mkdir(parents=True)
    for name in ("assay/events-0.alog", "assay/client.json", "config.yaml"):
        (bare / name).write_bytes((run / name).read_bytes())
    assert "no such file" in assay("verify", bare, code=1).out.lower()
    assay("report", bare, "--publish", "--json")
    assert "every figure" in assay("verify", bare).out
    assert ((bare / "performance/result_summary.json").read_bytes()
            == (run / "performance/result_summary.json").read_bytes())
    assert "has its derived files" in assay("report", bare, "--publish", code=2).err


def forge(run, path, value):
    """Sets one value of the manifest, and its own digest as its writer would have made it."""
    manifest = run / "assay" / "run.json"
    told = json.loads(manifest.read_text())
    place = told
    for step in path[:-1]:
        place = place[step]
    assert place[path[-1]] != value, "that would be no forgery"
    place[path[-1]] = value
    rest = {name: part for name, part in told.items() if name != "sha256"}
    text = json.dumps(rest, separators=(",", ":"), ensure_ascii=False)
    told["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    manifest.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("path,value", [
    (["run", "facts", "model"], "a-better-one"),
    (["run", "facts", "endpoints"], ["http://elsewhere:1"]),
    (["run", "version"], "9.9.9"),
    (["run", "git_sha"], "0123456"),
    (["run", "started"], "2020-01-01T00:00:00Z"),
    (["command"], ["assay", "run", "--honest"]),
    (["logs", 0, "lost_records"], 5),
])
def test_a_manifest_that_says_otherwise_than_the_log_is_named(assay, run, path, value):
    forge(run, path, value)
    found = json.loads(assay("verify", run, "--json", code=1).out)["findings"]
    name = ".".join(map(str, path))
    assert any(f"run.json: {name}: " in finding["what"] for finding in found), found


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
