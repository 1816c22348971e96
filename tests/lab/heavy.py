"""The laboratory's long form, by hand: replies of a gigabyte, with few connections and with many.

    ASSAY_BIN=build/release/assay python3 tests/lab/heavy.py [--memory-max 256M] [NAME …]

Says of each the most memory that the program was resident with, what replies held by its own
account, and the budget. Fails where that was not kept, or where a mode's expectation was not met.
"""

import argparse
import dataclasses
import pathlib
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lab import laboratory  # noqa: E402


def peak_of_children_mb():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--memory-max", default="256M")
    asked.add_argument("--connections", type=int, nargs="*", default=[3, 100])
    asked.add_argument("names", nargs="*")
    asked = asked.parse_args()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        modes = [mode for mode in laboratory.all_modes(home) if mode.heavy]
        modes = [
            mode
            for mode in modes
            if not asked.names or any(name in mode.name for name in asked.names)
        ]
        for connections in asked.connections:
            for mode in modes:
                mode = dataclasses.replace(
                    mode,
                    name=f"{mode.name}_{connections}",
                    samples=connections,
                    concurrency=connections,
                    flags=(*mode.flags, "--memory-max", asked.memory_max),
                )
                got = laboratory.run(mode, home, wait_s=580)
                held = got.audit.get("memory_bytes_peak", 0) / 1e6
                most = got.audit.get("memory_bytes_max", 0) / 1e6
                ended = ", ".join(sorted(got.failures)) if got.summary else got.said
                # Of all children so far: it only grows.
                print(
                    f"{mode.name}: resident at most {peak_of_children_mb():.0f} MB so far; "
                    f"replies held {held:.1f} of {most:.1f} MB; {ended}",
                    flush=True,
                )
                laboratory.judge(mode, got)


if __name__ == "__main__":
    main()
