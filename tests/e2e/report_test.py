"""assay report: one run, said on the terminal, as markdown and as a page, from its folder alone."""

import hashlib
import re

import pytest


@pytest.fixture(name="folder")
def a_run(assay, endpoint, tmp_path):
    server = endpoint("--osl", 12, "--ttft", "4ms", "--itl", "1ms", "--seed", 3, "--fault",
                      "http500=0.1")
    assay("run", "--endpoint", server.url, "--model", "<b>m</b>", "--concurrency", 8, "--samples",
          120, "--report-dir", tmp_path / "run", "--quiet", "--allow-client-limited",
          code=7)
    return tmp_path / "run"


def test_the_terminal_says_warnings_numbers_and_files_in_80_columns(assay, folder):
    told = assay("report", folder)
    lines = told.out.splitlines()
    assert max(map(len, lines)) <= 80 or str(folder) in max(lines, key=len)
    assert "\x1b" not in told.out
    for word in ("system_tps", "tps_per_user", "TTFT P90", "failed", "http_error", "run  ",
                 "arrivals", "client", "report.html"):
        assert word in told.out, word


def test_the_page_needs_nothing_else_and_lists_every_file_with_its_digest(assay, folder, tmp_path):
    told = assay("report", folder, "--html", tmp_path / "page.html")
    assert told.out == ""
    page = (tmp_path / "page.html").read_text()
    assert "<b>m</b>" not in page and "&lt;b&gt;m&lt;/b&gt;" in page
    assert not re.search(r"<script|<link|<img|src=|href=|url\(|@import", page)
    for name in ("config.yaml", "assay/events-0.alog", "performance/result_summary.json"):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() in page, name
    for chart in ("first tokens", "a token or less", "gaps in a stream", "replies were complete"):
        assert chart in page, chart


def test_the_page_that_a_run_leaves_says_the_same(assay, folder, tmp_path):
    assay("report", folder, "--html", tmp_path / "page.html")
    left = (folder / "report.html").read_text()
    assert left == (tmp_path / "page.html").read_text()


def test_markdown_has_the_tables(assay, folder):
    told = assay("report", folder, "--markdown")
    assert told.out.startswith("# assay run: ")
    for head in ("## Distributions", "## What the numbers rest on", "## Failures", "## Config",
                 "## Files"):
        assert head in told.out, head


def test_standard_output_takes_one_form(assay, folder):
    told = assay("report", folder, "--json", "--markdown", code=2)
    assert "--json, --markdown" in told.err


def test_a_folder_without_a_run_says_what_is_missing(assay, tmp_path):
    told = assay("report", tmp_path, code=2)
    assert str(tmp_path) in told.err and "events-0.alog" in told.err
