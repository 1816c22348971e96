"""The commands of README, guide and pages, as a reader pastes them."""

import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")),
         *sorted((ROOT / "docs" / "for").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
# An indented block stands after an empty line; one inside of a list is not code.
INDENTED = re.compile(r"(?:\A|\n\n)((?:    .*\n|\n)*?(?:    .*(?:\n|\Z)))(?=\n|\Z)")
REASON = re.compile(r"<!-- not run: [^>]{8,} -->\s*\Z")
PROGRAM = re.compile(r"^(?:\S*/)?assay$")


def code_of(page, kind):
    """The blocks of a page that are run: those marked `sh` as one script, `python` as another."""
    return "".join(body for mark, body in FENCE.findall(page.read_text()) if mark == kind)


def blocks_of(page):
    """[(mark, text, what stands before it)] of all blocks, of either form, that may hold
    commands."""
    text = page.read_text()
    fenced = [(found[1], found[2], text[:found.start()]) for found in FENCE.finditer(text)
              if found[1] in ("", "sh", "bash", "python")]
    rest = FENCE.sub("", text)
    return fenced + [
        ("", "\n".join(line[4:] for line in found[1].splitlines()), rest[:found.start(1)])
        for found in INDENTED.finditer(rest)]


def unexplained(page):
    """The blocks with commands that are neither run nor say why they can't be."""
    return [body for mark, body, before in blocks_of(page)
            if mark not in ("sh", "python") and calls_of(body) and not REASON.search(before)]


def calls_of(block):
    """[words after `assay`] of each call of the program in a block."""
    calls = []
    for line in block.replace("\\\n", " ").splitlines():
        line = re.sub(r"\s#\s.*$", "", line.strip()).removeprefix("$ ")
        try:
            words = shlex.split(line.replace("…", " … "), comments=True)
        except ValueError:
            continue  # prose, or a quote that the page leaves open
        for starter in ("mpirun", "srun"):
            if words[:1] == [starter]:
                words = words[next((at for at, word in enumerate(words)
                                    if PROGRAM.match(word)), 0):]
        if words and PROGRAM.match(words[0]) and len(words) > 1:
            ends = [at for at, word in enumerate(words) if word in ("|", "||", "&&", ";", ">", "&")]
            calls.append(words[1:min(ends, default=len(words))])
    return calls


def flags_of(words):
    """The --flags of a call; what follows `--` are words of another command."""
    own = words[:words.index("--")] if "--" in words else words
    return [re.match(r"--[a-z][a-z0-9-]*", word)[0] for word in own
            if re.match(r"--[a-z]", word)]
