"""Other load generators against an endpoint whose truth is known.

The peers themselves are large packages: what drives and reads them has tests beside the code, and
here the one peer that is always there, this program, is measured and judged like any other.
"""

import json


def test_a_run_of_ours_is_a_peer_like_any_other(assay, tmp_path):
    done = assay("conformance", "assay", "--streams", "1,8", "--ttft", "20ms", "--itl", "2ms",
                 "--tokens", 16, "--report-dir", tmp_path / "c", "--json").json()
    assert [(row["peer"], row["streams"], row["requests"]) for row in done["rows"]] == \
        [("assay", 1, 32), ("assay", 8, 32)]
    for row in done["rows"]:
        assert row["said"]["completed"] == row["truth"]["replies"] == 32
        assert row["truth"]["ttft"]["p50_ms"] >= 20
        assert row["truth"]["itl"]["p50_ms"] > 0
        assert row["cpu_s"] > 0
        # What the client saw was never before it was sent; the rest is for a quiet machine to say.
        assert row["said"]["ttft"]["p50_ms"] > row["truth"]["ttft"]["p50_ms"] - 1
    assert json.loads((tmp_path / "c/conformance.json").read_text()) == done


def test_a_peer_that_fails_is_told_and_the_others_go_on(assay, tmp_path):
    false = tmp_path / "false"
    false.write_text("#!/bin/sh\necho an Error: the reason\necho goodbye\nexit 9\n")
    false.chmod(0o755)
    said = assay("conformance", f"aiperf={false}", "assay", "--streams", 2, "--tokens", 4, "--ttft",
                 "1ms", "--itl", "1ms", code=1)
    assert "failed: exit code 9: an Error: the reason" in said.out
    assert "32 of 32" in said.out


def test_the_page_is_made_from_a_run_or_from_its_file(assay, tmp_path):
    page, again = tmp_path / "c.html", tmp_path / "again.html"
    assay("conformance", "assay", "--streams", 2, "--tokens", 4, "--ttft", "1ms", "--itl", "1ms",
          "--report-dir", tmp_path / "c", "--html", page)
    text = page.read_text()
    assert "2 streams at once" in text and "32 of 32" in text and "<script" not in text
    assay("conformance", "--from", tmp_path / "c/conformance.json", "--html", again)
    assert again.read_text() == text
    bad = tmp_path / "bad.json"
    bad.write_text('{"rows": [{"streams": 1}]}')
    assert "rows[0].peer" in assay("conformance", "--from", bad, "--html", again, code=2).err
    assert "--html" in assay("conformance", "--from", bad, code=2).err


def test_what_cannot_be_measured_is_refused_with_the_way_out(assay):
    assert "no peer; one of assay, reference, aiperf, guidellm, vllm" in assay(
        "conformance", "locust", code=2).err
    assert "pip install aiperf, or say aiperf=PROGRAM" in assay(
        "conformance", "aiperf=/nonexistent/aiperf", code=2).err
    assert "--streams" in assay("conformance", "--streams", "0", code=2).err
    listed = assay("conformance", "--list", "--json").json()
    assert [row["peer"] for row in listed][:2] == ["assay", "reference"]
