#!/usr/bin/env python3
"""The LoadGen repository's own programs, unchanged, over our library and module.

    tools/loadgen_programs.py --inference DIR [--build build/release] [--python PYTHON]
                              [--stock] [PROGRAM...]

DIR is a checkout of mlcommons/inference. Its unit tests, performance tests and benchmark/repro.cpp
are compiled against our headers and linked with libassay_loadgen.so (target assay_loadgen_shared);
its demos and the performance test in Python import mlperf_loadgen from the build. PYTHON fits the
build's module and has absl-py. With --stock they use the stock module of PYTHON instead, and the
C++ programs the checkout's own sources; its tests override Name() as const, which its own headers
refuse, so that word is left out there. It prints how each program ended and what its summary says;
the exit code is 1 when one failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "src/measuring"
TESTS = ["tests/basic.cc", "tests/loadgen_test_main.cc"]
# Name → sources of a C++ program, and its arguments.
COMPILED = {
    "basic": (TESTS, ["."]),
    "perftests": (["tests/perftests_null_sut.cc"], []),
    "repro": (["benchmark/repro.cpp"], ["10000"]),
    "repro_queue": (["benchmark/repro.cpp"], ["10000", "1", "4", "8"]),
    "repro_coalesce": (["benchmark/repro.cpp"], ["10000", "0", "4", "1", "1"]),
    "repro_threads": (["benchmark/repro.cpp"], ["10000", "0", "4", "1", "0", "4"]),
}
DEMOS = ["py_demo_single_stream", "py_demo_multi_stream", "py_demo_offline", "py_demo_server"]
SCRIPTS = {"perftests_python": "tests/perftests_null_sut.py",
           **{name: f"demos/{name}.py" for name in DEMOS},
           **{f"tokens_{name}": f"demos/token_metrics/{name}.py"
              for name in [*DEMOS, "py_demo_offline_inferred", "py_demo_server_inferred"]}}


def compiled(name, options, folder):
    """The program's command. Its includes begin with "../", so it stands beside the headers."""
    loadgen = options.inference / "loadgen"
    sources, arguments = COMPILED[name]
    tree = folder / "tree"
    for source in [*sources, "tests/loadgen_test.h"]:
        (tree / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(loadgen / source, tree / source)
    headers = loadgen if options.stock else HEADERS / "sut/mlperf"
    for header in headers.glob("*.h"):
        shutil.copy(header, tree / header.name)
    if options.stock:
        subprocess.run([sys.executable, loadgen / "version_generator.py", folder / "version.cc",
                        loadgen], check=True, stdout=subprocess.DEVNULL)
        conf = (loadgen / "mlperf.conf").read_text(encoding="utf-8")
        (tree / "mlperf_conf.h").write_text(f'const char* mlperf_conf = R"###({conf})###";\n')
        for source in sources:
            text = (tree / source).read_text(encoding="utf-8")
            (tree / source).write_text(text.replace("Name() const override", "Name() override"))
        libraries = [*map(str, loadgen.glob("*.cc")), str(folder / "version.cc")]
    else:
        libraries = [str(options.build / "libassay_loadgen.so"),
                     f"-Wl,-rpath,{options.build.resolve()}"]
    program = folder / name
    done = subprocess.run(
        ["g++", "-std=c++17", "-O2", "-w", f"-I{tree}", f"-I{HEADERS}",
         *[str(tree / source) for source in sources], *libraries, "-o", str(program), "-pthread"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        faults = [line for line in done.stderr.splitlines() if "error:" in line]
        raise RuntimeError(f"does not compile: {len(faults)} errors, {faults[0][-160:]}")
    return [program, *arguments]


def command_of(name, options, folder):
    if name in COMPILED:
        return compiled(name, options, folder)
    return [options.python, "-B", str((options.inference / "loadgen" / SCRIPTS[name]).resolve())]


def run(name, options):
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        env = dict(os.environ)
        if not options.stock:
            env["PYTHONPATH"] = str((options.build / "python").resolve())
        work = folder / "work"
        (work / "build").mkdir(parents=True)  # where repro writes
        try:
            command = command_of(name, options, folder)
            begin = time.monotonic()
            done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True,
                                  timeout=600, check=False)
        except (RuntimeError, subprocess.TimeoutExpired) as fault:
            print(f"{name}: FAILED, {fault}")
            return False
        said = []
        for summary in sorted(work.rglob("*summary.txt")):
            text = summary.read_text(encoding="utf-8")
            verdict = re.search(r"Result is : (\w+)", text)
            errors = re.search(r"^(No|\d+) errors? ", text, re.MULTILINE)
            said.append(f"{verdict[1] if verdict else 'no verdict'}, "
                        f"{errors[1] if errors else '?'} errors")
        print(f"{name}: exit code {done.returncode}, {time.monotonic() - begin:.0f} s; "
              f"{'; '.join(said)}", flush=True)
        if done.returncode != 0:
            print("  " + "\n  ".join((done.stdout + done.stderr).splitlines()[-12:]))
        return done.returncode == 0 and bool(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--stock", action="store_true")
    parser.add_argument("programs", nargs="*", choices=[[], *COMPILED, *SCRIPTS],
                        help="by name; none: all")
    options = parser.parse_args()
    good = [run(name, options) for name in options.programs or [*COMPILED, *SCRIPTS]]
    print(f"{sum(good)} of {len(good)} ran")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
