#!/usr/bin/env python3
"""A data set that no file holds, as a program: it writes its rows to its standard output, a JSON
object a line, and {"end": true} behind the last one (docs/formats/plugin.md).

    assay run --dataset 'program:python3 examples/plugin/dataset.py 50' --endpoint URL --model m

Put your own source in the place of `rows`: a database, a log of requests, a generator. Make the
same rows for the same arguments: a run that is scored later asks for them again.
"""

import json
import random
import sys


def rows(count, seed=7):
    """Your source: sums, with what a scorer compares."""
    chance = random.Random(seed)
    for _ in range(count):
        left, right = chance.randrange(100), chance.randrange(100)
        yield {"prompt": f"What is {left} + {right}? Answer with the number alone.",
               "sum": left + right}


def main():
    try:
        for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
            print(json.dumps(row))
        print(json.dumps({"end": True}))
    except BrokenPipeError:
        pass
    except Exception as error:  # the words that Assay shows
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
        sys.exit(1)


main()
