#!/usr/bin/env python3
"""Writes src/asking/text/unicode_newer.h: what Unicode 16.0 assigned after 15.0, from unicodedata2.

    python3 -m pip install --target /tmp/u15 unicodedata2==15.0.0
    python3 -m pip install --target /tmp/u16 unicodedata2==16.0.0
    python3 tools/unicode_newer.py /tmp/u15 /tmp/u16 > src/asking/text/unicode_newer.h

Run it again when the tokenizer libraries move to a newer Unicode.
"""

import json
import subprocess
import sys

ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import unicodedata2 as u
print(json.dumps([u.unidata_version, [u.category(chr(c)) for c in range(0x110000)]]))
"""
HEAD = """// What Unicode {new} assigned after {old}, as ranges of one general category each:
// utf8proc of Debian 12 has the tables of {old}, and the tokenizer libraries cut by {new}. Made by
// tools/unicode_newer.py.
#pragma once

#include <array>

#include "text/unicode.h"

namespace assay::text {{

struct NewRange {{
  char32_t first = 0;
  char32_t last = 0;
  GeneralCategory category = GeneralCategory::cn;
}};

inline constexpr std::array<NewRange, {count}> kNewRanges = {{{{
"""


def table(folder):
    done = subprocess.run([sys.executable, "-c", ASK, folder], check=True, capture_output=True)
    return json.loads(done.stdout)


def main():
    old_version, old = table(sys.argv[1])
    new_version, new = table(sys.argv[2])
    ranges = []
    for c, category in enumerate(new):
        if category == old[c]:
            continue
        if ranges and ranges[-1][1] == c - 1 and ranges[-1][2] == category:
            ranges[-1][1] = c
        else:
            ranges.append([c, c, category])
    print(HEAD.format(old=old_version[:4], new=new_version[:4], count=len(ranges)), end="")
    for first, last, category in ranges:
        print(f"    {{0x{first:04X}, 0x{last:04X}, GeneralCategory::{category.lower()}}},")
    print("}};\n\n}  // namespace assay::text")


if __name__ == "__main__":
    main()
