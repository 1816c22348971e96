"""The commands of README, guide and pages, as a reader pastes them."""

import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")),
         *sorted((ROOT / "docs" / "for").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
PROGRAM = re.compile(r"^(?:\S*/)?assay$")


def shell_of(page):
    """The blocks of a page that are run: those marked `sh`, as one script."""
    return "".join(body for kind, body in FENCE.findall(page.read_text()) if kind == "sh")


def blocks_of(page):
    """All blocks of a page, of either form, that hold commands or might."""
    text = page.read_text()
    fenced = [body for kind, body in FENCE.findall(text) if kind in ("", "sh", "bash")]
    rest = FENCE.sub("", text)
    # An indented block stands after an empty line; one inside of a list is not code.
    indented = re.findall(r"(?:\A|\n\n)((?:    .*\n|\n)*?(?:    .*(?:\n|\Z)))(?=\n|\Z)", rest)
    return fenced + ["\n".join(line[4:] for line in block.splitlines()) for block in indented]


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
