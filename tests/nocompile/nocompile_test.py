#!/usr/bin/env python3
"""Misuse that must not compile: each .cc here is compiled twice, as it stands, which must succeed,
and with -DMISUSE, which must fail and say what the file's `// refused:` line says (a regular
expression). So a case cannot fail for another reason than the one it names. `// clang only`: the
check is clang's.

    nocompile_test.py COMPILER CLANG
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def compiles(compiler, file, *more):
    done = subprocess.run(
        [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         *(f"-I{group}" for group in sorted((HERE.parent.parent / "src").iterdir())), *more,
         str(file)] +
        (["-Wthread-safety"] if "clang" in compiler else []), capture_output=True, text=True,
        env={**os.environ, "LC_ALL": "C"})  # plain quotes in messages
    return done.returncode == 0, done.stderr


def fault_of(compiler, clang, file):
    if re.search(r"^// clang only$", file.read_text(), re.M):
        compiler = clang
    wanted = re.search(r"^// refused: (.+)$", file.read_text(), re.M)
    if not wanted:
        return "has no '// refused:' line"
    good, output = compiles(compiler, file)
    if not good:
        return f"does not compile without the misuse\n{output}"
    good, output = compiles(compiler, file, "-DMISUSE")
    if good:
        return "compiles with the misuse"
    if not re.search(wanted.group(1), output):
        return f"fails for another reason than '{wanted.group(1)}'\n{output}"
    return None


def main(compiler, clang):
    files = sorted(HERE.glob("*.cc"))
    faults = {file.name: fault_of(compiler, clang, file) for file in files}
    failed = 0
    for name, fault in faults.items():
        print(f"{'FAILED' if fault else 'ok':8}{name}{': ' + fault if fault else ''}")
        failed += fault is not None
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
