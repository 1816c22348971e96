"""The site: every page, a manual page for each command, pictures that show something."""

import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import pages

PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN",
                                      pages.ROOT / "build/release/assay")).resolve()


@pytest.fixture(scope="module", name="site")
def the_site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    subprocess.run([sys.executable, "-B", pages.ROOT / "tools" / "site.py", "--program", PROGRAM,
                    "--out", out], check=True)
    return out


def test_every_document_is_a_page(site):
    documents = (pages.ROOT / "docs").rglob("*.md")
    missing = [page for page in documents if not (
        site / page.relative_to(pages.ROOT / "docs").with_suffix("") / "index.html").exists()
        and page.name != "index.md"]
    assert missing == []


def test_every_command_has_its_manual_page(site):
    listed = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r"(?m)^  ([a-z]+) {2,}\S", listed):
        page = (site / "man" / f"assay-{command}" / "index.html").read_text()
        assert "EXIT STATUS" in page and "SYNOPSIS" in page, command


def test_the_pictures_are_on_the_first_page(site):
    first = (site / "index.html").read_text()
    shown = re.findall(r'src="(pictures/[^"]+)"', first)
    assert [pathlib.Path(name).stem for name in shown] == ["terminal", "report", "explorer"]
    assert "TTFT" in (site / shown[0]).read_text()
    for name in shown[1:]:
        content = (site / name).read_bytes()
        width, height = struct.unpack(">II", content[16:24])
        # A page of one colour packs to a few thousand bytes.
        assert width == 1280 and height >= 1000 and len(content) > 25_000, name
