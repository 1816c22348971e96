"""Rules of tools/tidy.py on docs/decisions/: names, numbers, sections, links in both directions."""

import re

STATUS = re.compile(r"^## Status\n(.*?)^## ", re.M | re.S)
# A decision changes another where its status says so: "It replaces what [0170](0170-….md) rejects".
CHANGES = re.compile(r"\b(changes|replaces|amends|supersedes)\b", re.I)
NAMED = re.compile(r"\((\d{4})-[a-z0-9-]+\.md\)|\bdecision (\d+)\b")


def fault(path, line, message):
    return f"{path}:{line}: {message}"


def number_of(path):
    number = re.match(r"(\d{4})-[a-z0-9-]+\.md$", path.rsplit("/", 1)[-1])
    return number.group(1) if number else None


def decisions_say_what_they_must(tree):
    numbers = {}
    for path, text in tree.texts("docs/decisions/", (".md",)):
        number = number_of(path)
        if not number:
            yield fault(path, 1, "a decision is named NNNN-what-was-decided.md")
            continue
        if number in numbers:
            yield fault(path, 1, f"has the number of {numbers[number]}")
        numbers[number] = path
        for heading in ("Status", "Context", "Decision", "Consequences", "Rejected"):
            if not re.search(rf"^## {heading}$", text, re.M):
                yield fault(path, 1, f"no section '## {heading}'")


def changed_by(text):
    """The numbers of the decisions that a decision's status says it changes."""
    status = STATUS.search(text)
    for sentence in re.split(r"(?<=[.;])\s", status.group(1) if status else ""):
        says = CHANGES.search(sentence)
        if says:
            for link, number in NAMED.findall(sentence, says.end()):
                yield link or number.zfill(4)


def changed_decisions_link_back(tree):
    texts = {number_of(path): (path, text)
             for path, text in tree.texts("docs/decisions/", (".md",))}
    for number, (path, text) in texts.items():
        for other in set(changed_by(text)):
            changed, words = texts.get(other, (path, None))
            if words is None:
                yield fault(path, 1, f"changes decision {other}, which is not there")
            elif f"({number}-" not in words:
                yield fault(changed, 1, f"is changed by {number} and has no link to it")
