#!/usr/bin/env python3
"""`./assay.sh docs`: the documents as a site, in dist/site, from docs/ and from what the program
says of itself.

Pages are copied; links that leave docs/ become plain words. Manual pages are `assay man`, read by
mandoc. The pictures are made here each time, so they show what this program shows: a run in a
terminal, the report of a curve, the explorer. mkdocs stops at a link that leads nowhere.
"""

import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAVIGATION = (("Start", ["index.md", "guide/install.md", "glossary.md"]), ("For you", "for"),
              ("Guide", "guide"), ("Notebooks", "notebooks"), ("Formats", "formats"),
              ("Manual", "man"), ("Decisions", "decisions"))


def run(*words, **how):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, timeout=180,
                          stderr=subprocess.PIPE, text=True, check=False, **how)
    if done.returncode not in (0, 4):  # 4: a busy machine
        sys.exit(f"error: {' '.join(map(str, words))[:300]}: exit {done.returncode}\n"
                 f"{done.stderr[-3000:]}")
    return done.stdout


def within(text, page, docs):
    """Links out of docs/ have no page on the site."""
    def keep(found):
        target = found[2].split("#")[0]
        if not target or "://" in target or (page.parent / target).resolve().exists() and \
                (page.parent / target).resolve().is_relative_to(docs) and \
                not (page.parent / target).is_dir():
            return found[0]
        return found[1]

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", keep, text)


def notebook_page(path):
    """A notebook as a page: its words, and its code."""


    out = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        out.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(out) + f"\n\nThe file: [{path.name}]({path.name})\n"


def copy_pages(docs):
    shutil.copytree(ROOT / "docs", docs)
    for page in docs.glob("notebooks/*.ipynb"):
        page.with_suffix(".md").write_text(notebook_page(page))
    for page in docs.rglob("*.md"):
        text = re.sub(r"(notebooks/\w+)\.ipynb", r"\1.md", page.read_text()) \
            if page.parent.name != "notebooks" else page.read_text()
        page.write_text(within(text, page, docs))


def manual(program, docs):
    """Each manual page, as mandoc reads it."""
    with tempfile.TemporaryDirectory() as folder:
        run(program, "man", "--folder", folder)
        (docs / "man").mkdir()
        for page in sorted(pathlib.Path(folder).glob("*.1")):
            text = run("mandoc", "-T", "utf8", page)
            text = re.sub(".\b", "", text)  # bold is a letter struck twice
            (docs / "man" / f"{page.stem}.md").write_text(f"# {page.stem}\n\n```text\n{text}```\n")


def picture_of_text(text, title):
    """A terminal as SVG: no font of ours, no program to draw it."""
    lines = text.rstrip("\n").splitlines()
    width = max(map(len, lines)) * 8.4 + 40
    height = len(lines) * 18 + 60
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
           f'role="img" aria-label="{html.escape(title)}">',
           f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#1b1f27"/>',
           '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
           'fill="#e4e7ec" xml:space="preserve">']
    out += [f'<text x="20" y="{42 + at * 18}" xml:space="preserve">{html.escape(line)}</text>'
            for at, line in enumerate(lines)]
    return "\n".join(out) + "\n</g></svg>\n"


def screenshot(address, out, height=1000):
    with tempfile.TemporaryDirectory() as profile:
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={profile}", f"--window-size=1280,{height}",
            "--allow-file-access-from-files", "--virtual-time-budget=8000",
            f"--screenshot={out}", address)


class Server:
    """A command of ours that prints its address and goes on."""

    def __init__(self, *words):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = next((word for line in self.process.stdout for word in line.split()
                         if word.startswith("http://")), None)

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()


def pictures(program, out):
    """terminal.svg, report.png and explorer.png of a small curve that is measured now."""
    out.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        with Server(program, "endpoint", "--port", "0", "--ttft", "20ms", "--itl", "3ms", "--osl",
                    "12") as url:
            shown = run(program, "run", "--endpoint", url, "--model", "demo", "--concurrency", "8",
                        "--samples", "160", "--report-dir", "runs/demo", cwd=here)
            run(program, "curve", "--endpoint", url, "--model", "demo", "--concurrency", "1,8",
                "--quick", "--prompts", "8", "--isl", "64", "--report-dir", "curves/m", cwd=here)
        (out / "terminal.svg").write_text(picture_of_text(shown, "a run in a terminal"))
        run(program, "report", "curves/m", "--html", "curve.html", cwd=here)
        screenshot((here / "curve.html").as_uri(), out / "report.png", 1400)
        # As files: a page that listens for live runs never comes to rest.
        run(program, "import", "curves/m", "--store", "store.db", cwd=here)
        run(program, "export", "public", "--store", "store.db", cwd=here)
        screenshot((here / "public" / "index.html").as_uri(), out / "explorer.png")


def put_pictures(page):
    def picture(found):
        name = next(path.name for path in (page.parent / "pictures").iterdir()
                    if path.stem == found[1])
        return f"![{found[2]}](pictures/{name})"

    page.write_text(re.sub(r"<!-- picture (\w+): (.*?) -->", picture, page.read_text()))


def configuration(docs):
    lines = ["site_name: Assay", "docs_dir: docs", "theme:", "  name: material",
             "  font: false", "  features: [navigation.sections, content.code.copy]",
             "plugins: [search]", "markdown_extensions:", "- tables", "- toc: {permalink: true}",
             "- pymdownx.superfences", "- pymdownx.highlight", "validation:",
             "  links: {anchors: info, unrecognized_links: info, not_found: warn}", "nav:"]
    for title, content in NAVIGATION:
        pages = content if isinstance(content, list) else sorted(
            str(path.relative_to(docs)) for path in (docs / content).glob("*.md"))
        lines += [f"- {title}:"] + [f"  - {page}" for page in pages]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/assay")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist" / "site")
    args = parser.parse_args()
    program = args.program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        docs = work / "docs"
        copy_pages(docs)
        manual(program, docs)
        pictures(program, docs / "pictures")
        put_pictures(docs / "index.md")
        (work / "mkdocs.yml").write_text(configuration(docs))
        shutil.rmtree(args.out, ignore_errors=True)
        run(sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", work / "mkdocs.yml",
            "-d", args.out.resolve(), env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    print(f"{args.out}: {sum(1 for _ in args.out.rglob('*.html'))} pages")


if __name__ == "__main__":
    main()
