#!/usr/bin/env python3
"""Holds `assay dataset --check` against the verdicts of mlcroissant's own test documents.

    tools/against_croissant.py CHECKOUT [--assay BIN]

CHECKOUT is one of github.com/mlcommons/croissant. Each document of its tests (1.0 and 1.1) that its
library has to refuse must be refused here, and each that it takes must be taken; rows are not read.
A document with another verdict here is printed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRAPHS = "python/mlcroissant/mlcroissant/_src/tests/graphs"


def documents(checkout):
    """(document, whether the library takes it): by the words that its tests expect of it."""
    for path in sorted((checkout / GRAPHS).glob("1.*/*/metadata.json")):
        expected = path.with_name("output.txt")
        text = expected.read_text() if expected.exists() else ""
        yield path, "error(s) during the validation" not in text
    for path in sorted((checkout / "datasets").glob("1.[01]/**/*.json")):
        if "output" in path.parts or "data" in path.parts:
            continue
        try:
            document = json.loads(path.read_text())
        except ValueError:
            continue
        if isinstance(document, dict) and "@type" in document and "@context" in document:
            yield path, True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--assay", type=pathlib.Path, default=ROOT / "build/release/assay")
    args = parser.parse_args()
    same, taken, differ = 0, 0, []
    for path, valid in documents(args.checkout):
        done = subprocess.run(
            [str(args.assay), "dataset", str(path), "--check", "--json", "--first", "0"],
            capture_output=True, text=True, check=False)
        said = json.loads(done.stdout)
        # Files are not beside the metadata in the checkout: what is asked is the document.
        errors = [one for one in said["findings"]
                  if one["severity"] == "error" and one["rule"] not in ("rows", "file")]
        if valid == (not errors):
            same += 1
            taken += valid
        else:
            differ.append((path, valid, errors))
    print(f"{same} of {same + len(differ)} verdicts are the same ({taken} valid, {same - taken} "
          "invalid)")
    for path, valid, errors in differ:
        print(f"  {path.relative_to(args.checkout)}: mlcroissant "
              f"{'takes' if valid else 'refuses'} it; here: {errors[:2]}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
