#!/usr/bin/env python3
"""A scorer that Assay did not foresee, as a program: it reads replies, a JSON object a line, and
writes a score (docs/formats/plugin.md).

    assay score RUN --scorer external \\
        --extras '{"command": ["python3", "/path/scorer.py", "{replies}", "{result}"]}'

Put your own judgement in the place of `score`. With `samples` the score has an interval, and two
runs are compared in pairs.
"""

import json
import pathlib
import re
import sys


def score(row):
    """Your judgement of one reply, from 0 to 1: the last number in it is the row's sum."""
    numbers = re.findall(r"-?\d+", row["content"] or "")
    return 1 if numbers and int(numbers[-1]) == row["columns"].get("sum") else 0


def main(replies, result):
    samples = []
    with open(replies, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            right = score(row) if row["answered"] else 0
            samples.append({"sample": row["sample"], "score": right})
    mean = sum(one["score"] for one in samples) / max(1, len(samples))
    pathlib.Path(result).write_text(json.dumps({"score": mean, "samples": samples}),
                                    encoding="utf-8")


main(*sys.argv[1:3])
