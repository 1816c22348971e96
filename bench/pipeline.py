#!/usr/bin/env python3
"""How long `assay pipeline run` takes to go on after a kill, and that it repeats nothing.

    bench/pipeline.py [--build build/release] [--subjects 10000] [--kills 3]

A pipeline of three steps for each subject is killed (SIGKILL) at some shares of its way and run
again. Printed for each: the time from the start of the next run to its first process, and how many
processes ran twice. Wanted: below 5 s, and no more than ran at the kill.
"""

import argparse
import pathlib
import signal
import subprocess
import tempfile
import time

from machine import ROOT

STEPS = ("one", "two", "three")


def write_site(folder, subjects):
    for i in range(subjects):
        place = folder / "raw" / f"s{i:06}"
        place.mkdir(parents=True)
        (place / "in").write_text(f"{i}\n")
    lines = ["steps:"]
    source = "{raw}/{partition}/in"
    for i, step in enumerate(STEPS):
        target = "{work}/{partition}." + step
        following = f", next: {STEPS[i + 1]}" if step != STEPS[-1] else ""
        lines.append(f'  - {{id: {step}, type: process, command: [cp, "{source}", "{target}"], '
                     f'outputs: ["{target}"], partition: true{following}}}')
        source = target
    lines += ["inputs: {raw: raw}", 'partition_def: {type: folders, path: "{raw}/*"}', ""]
    (folder / "p.yaml").write_text("\n".join(lines))


def lines_of(path):
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def run_until(program, folder, lines):
    """Seconds until the journal has a new line; the run is killed when it has `lines`."""
    journal = folder / "p.work/journal"
    before = lines_of(journal)
    bytes_before = journal.stat().st_size if journal.exists() else 0
    began = time.monotonic()
    process = subprocess.Popen([program, "pipeline", "run", folder / "p.yaml"],
                               stdout=subprocess.DEVNULL)
    first = None
    while process.poll() is None:
        size = journal.stat().st_size if journal.exists() else 0
        if first is None and size > bytes_before:
            first = time.monotonic() - began
        if first is not None and lines is not None and lines_of(journal) >= lines:
            process.send_signal(signal.SIGKILL)
        time.sleep(0.01)
    return first, time.monotonic() - began, before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--subjects", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    program = ROOT / options.build / "assay"
    total = options.subjects * len(STEPS)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_site(folder, options.subjects)
        for kill in range(1, options.kills + 1):
            at = 2 * total * kill // (options.kills + 1)
            first, _, before = run_until(program, folder, at)
            print(f"run {kill}: {before // 2:,} done before, first process after {first:.2f} s, "
                  f"killed at {at // 2:,}")
        first, whole, before = run_until(program, folder, None)
        print(f"last run: {before // 2:,} done before, first process after {first:.2f} s, "
              f"whole {whole:.1f} s")
        _, whole, _ = run_until(program, folder, None)
        print(f"nothing to do: {whole:.2f} s")
        repeated = (lines_of(folder / "p.work/journal") - 2 * total)
        print(f"processes that ran twice: {repeated}, after {options.kills} kills")


if __name__ == "__main__":
    main()
