#!/usr/bin/env python3
"""The whole check, as `./assay.sh test` and CI run it: sections in order, cheapest verdicts first.
What measures has the machine to itself; then compilers work beside the tests that mostly wait.

A section is one or more commands. What they print goes to build/suite/SECTION.log; the terminal
gets one line a section, and the log's end where something failed. All sections run, whatever fails.
The last line is `N passed, N failed`: GoogleTest cases, pytest cases and other tests, one each; a
section whose build fails counts as one failure.

    tools/suite.py                     everything
    tools/suite.py dev release         these sections only
    tools/suite.py smoke               minutes: tidy, the instrument's unit tests, a first run
    tools/suite.py --changed [REF]     what the changes since REF (HEAD) reach, in the quick preset
    tools/suite.py full                these and the long ones: fuzzing, mutations, series of runs
    tools/suite.py --list              their names
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

import changed
import tidy as rules

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "suite"
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable

BUILDING = threading.Lock()

NO_REGISTRY = re.compile(r"EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENETUNREACH")
# Of GoogleTest, pytest, vitest, ctest, the compilers and the sanitizers.
FAULT = re.compile(r": Failure$|^\[  FAILED  \]|^E   |^FAILED |\*\*\*Failed|\*\*\*Timeout"
                   r"|: error: |ERROR: (Address|Thread|Leak|Undefined)|: runtime error: "
                   r"| FAIL |AssertionError|error TS\d|^ +\d+:\d+ +error ")
UNREACHABLE = re.compile(r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|No route to")


class Failed(Exception):
    """A command that a section cannot go on without has failed."""


class Count:
    """How many tests passed and failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, output, good):
        """What a program printed, and whether it ended well. No counts: it is one test."""
        passed, failed = tally(output)
        if passed + failed == 0 or (failed == 0 and not good):
            passed, failed = passed + good, failed + (not good)
        self.passed += passed
        self.failed += failed


class Section:
    """One section as it runs: its log and its count."""

    def __init__(self, name, jobs, prefix=()):
        self.name, self.jobs, self.prefix = name, jobs, prefix
        self.count = Count()
        self.log = LOGS / f"{name}.log"
        self.log.unlink(missing_ok=True)

    def run(self, *command, env=None):
        """Returns (exit code, output); the output is in the log as well."""
        words = [str(word) for word in (*self.prefix, *command)]
        self.say(f"$ {' '.join(map(str, command))}\n")
        done = subprocess.run(words, cwd=ROOT, text=True, env={**os.environ, **(env or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", check=False)
        self.say(done.stdout)
        return done.returncode, done.stdout

    def say(self, text):
        try:
            with self.log.open("a") as log:
                log.write(text)
        except OSError as error:  # a full disk fails this section, not the verdict of all others
            print(f"{self.name}: {self.log.name} can't be written: {error.strerror}", flush=True)
            self.count.failed += 1

    def must(self, *command, env=None):
        code, output = self.run(*command, env=env)
        if code:
            raise Failed(f"exit {code}: {' '.join(map(str, command))}")
        return output

    def check(self, *command, env=None):
        """A command that is one test, or that prints `N passed, N failed`."""
        code, output = self.run(*command, env=env)
        self.count.add(output, code == 0)

    def build(self, preset, *targets, options=()):
        with BUILDING:  # two rows at one time could build in one folder
            self.must("cmake", "--preset", preset, *options)
            if targets:
                self.must("cmake", "--build", f"build/{preset}", "-j", self.jobs, "--target",
                          *targets)

    def ctest(self, preset, labels, jobs=None, only=""):
        report = LOGS / f"{self.name}.xml"
        report.unlink(missing_ok=True)
        self.run("ctest", "--test-dir", f"build/{preset}", "-L", f"^({labels})$",
                 *(["-R", only] if only else []), "-j", jobs or self.jobs, "--output-on-failure", "--output-junit", report,
                 "--test-output-size-passed", 4096, "--test-output-truncation", "head",
                 "--no-tests=error")
        if not report.exists():
            raise Failed("ctest found no tests")
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            output = case.findtext("system-out") or ""
            self.count.add(output, case.get("status") == "run")

    def vitest(self, script, env=None):
        """An npm script of web/ that runs vitest; each of its tests counts as one."""
        report = LOGS / f"{self.name}-{script}.xml"
        report.unlink(missing_ok=True)
        code, _ = self.run("npm", "--prefix", "web", "run", script, "--", "--reporter=default",
                           "--reporter=junit", f"--outputFile.junit={report}", env=env)
        if not report.exists():
            raise Failed(f"web: `npm run {script}` did not get as far as its tests")
        cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        failed = sum(case.find("failure") is not None or case.find("error") is not None
                     for case in cases)
        self.count.passed += len(cases) - failed
        self.count.failed += failed + (code != 0 and failed == 0)


def tally(output):
    """(passed, failed) of what a test program printed: GoogleTest, pytest, or our own last line."""

    def total(*patterns):
        return sum(int(number) for pattern in patterns
                   for number in re.findall(pattern, output, re.M))

    googletest = (total(r"^\[  PASSED  \] (\d+) tests?\."), total(r"^ ?(\d+) FAILED TESTS?$"))
    if any(googletest):
        return googletest
    return total(r"\b(\d+) passed\b"), total(r"\b(\d+) failed\b", r"\b(\d+) errors? in \d")


def tidy(section):
    section.check(PYTHON, "-B", "tools/tidy.py")
    section.check(PYTHON, "-B", "tools/tidy_test.py")
    section.check(PYTHON, "-B", "tools/suite_test.py")
    section.check(PYTHON, "-B", "tools/lint.py", "format")


def quick(section, rooms, end_to_end):
    """Unit tests of rooms, and end-to-end tests by their files, neither optimised nor checked."""
    tests = [room for room in rooms if any(
        path.name.endswith("_test.cc") for path in (ROOT / "src").glob(f"*/{room}/**/*_test.cc"))]
    long = [room for room in tests if any((ROOT / "src").glob(f"*/{room}/**/*_long_test.cc"))]
    targets = ([f"{room}_test" for room in tests] + [f"{room}_long_test" for room in long]
               + (["assay"] if end_to_end else []))
    if targets:
        section.build("quick", *targets)
    if tests:
        section.ctest("quick", "unit|long", only=f"^(unit|long)[.]({'|'.join(tests)})$")
    if end_to_end:
        section.check(PYTHON, "-B", "-m", "pytest", "-q", *end_to_end,
                      env={"ASSAY_BIN": str(ROOT / "build" / "quick" / "assay")})


def instrument(section):
    """What can falsify a measurement: the rooms of ground and instrument, and a run end to end."""
    rooms = rules.rooms_of(rules.Tree.of_repository(ROOT))
    quick(section, [name for name, (_, _, group) in rooms.items()
                    if group in ("ground", "instrument")],
          ["tests/e2e/command_line_test.py", "tests/e2e/verify_test.py"])


def dev(section):
    section.build("dev", "tests", "fuzzers")
    section.ctest("dev", "unit|golden|sim|nocompile|fuzz")


def release(section):
    # All that the later sections use, too.
    section.build("release", "assay", "rooms", "benches", "long_tests", "loadgen_null_sut",
                  "assay_python", "assay_python_columns")
    # What measures has the machine to itself (RUN_SERIAL).
    section.ctest("release", "e2e|bench")


def untimed(section):
    """End-to-end tests that hold no time against a truth, an install, and what only computes."""
    section.build("release", "assay", "rooms", "long_tests")
    section.ctest("release", "untimed|long")


def analyse(section):
    section.build("clang")
    section.check(PYTHON, "-B", "tools/lint.py", "analyse", "build/clang")


def tsan(section):
    section.build("tsan", "tests")
    section.ctest("tsan", "unit")


def python_with(section, wanted, venv):
    """An environment with the packages of a file; None where no index can be reached."""
    if not (venv / "bin" / "python").exists():
        section.must(PYTHON, "-m", "venv", venv)
    code, output = section.run(venv / "bin" / "python", "-m", "pip", "install", "-q",
                               "--disable-pip-version-check", "-r", wanted)
    if code and UNREACHABLE.search(output) and "CI" not in os.environ:
        print(f"{section.name}: skipped: the package index can't be reached", flush=True)
        return None
    if code:
        raise Failed(f"the packages of {wanted} can't be installed")
    return venv / "bin" / "python"


def peers_python(section):
    """The environment of the peers' packages; None where no index can be reached."""
    python = python_with(section, ROOT / "tests" / "peers" / "requirements.txt",
                         ROOT / "build" / "venv")
    if python:
        section.build("release", "assay", "loadgen_null_sut", "assay_python")
    return python


def peers(section):
    if python := peers_python(section):
        section.check(python, "-B", "-m", "pytest",
                      "tests/peers", env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


def package(section):
    """What users install, from the release build as it is."""
    section.build("release", "assay", "assay_python_columns")
    code, _ = section.run(PYTHON, "-B", "packaging/package.py", "--fetch")
    if code and "CI" not in os.environ:
        print("package: skipped: what linking needs can't be fetched", flush=True)
        return
    section.check(PYTHON, "-B", "-m", "pytest", "tests/package",
                  env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


def docs(section):
    """The pages' commands, the notebooks and the site."""
    python = python_with(section, ROOT / "tests" / "docs" / "requirements.txt",
                         ROOT / "build" / "docs")
    if python:
        section.build("release", "assay", "assay_python_columns")
        section.check(python, "-B", "-m", "pytest", "tests/docs",
                      env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


def web(section):
    code, output = section.run("npm", "--prefix", "web", "ci", "--no-audit", "--no-fund")
    if code and NO_REGISTRY.search(output) and "CI" not in os.environ:
        print("web: skipped: the package registry can't be reached", flush=True)
        return
    if code:
        raise Failed("the page's packages can't be installed")
    section.must("npm", "--prefix", "web", "run", "build")
    section.check("npm", "--prefix", "web", "run", "lint")
    section.vitest("test")
    section.build("release", "assay")
    section.vitest("journeys", env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


def fuzz_long(section):
    """The tests with every check of the sanitizers, then two minutes a fuzzer, each with a seed of
    its own."""
    section.build("dev", "tests", "fuzzers", options=["-DASSAY_SANITIZE_ALL=ON"])
    section.ctest("dev", "unit|golden|sim")
    for fuzzer in sorted((ROOT / "build" / "dev").glob("*_fuzz")):
        with tempfile.TemporaryDirectory() as folder:  # crashing inputs are kept with the logs
            section.check(fuzzer, "-max_total_time=120", "-timeout=10", "-rss_limit_mb=2048",
                          "-verbosity=0", f"-artifact_prefix={LOGS}/{fuzzer.name}-", folder)


def mutants(section):
    """Does a unit test fail when one expression of the core is wrong? 60 of each room."""
    for room in ("run", "protocol", "record", "metrics", "audit", "decide", "net", "host"):
        section.check(PYTHON, "-B", "tools/mutate.py", room, "--sample", 60, "--at-least", 95,
                      "--jobs", section.jobs)


def innocence(section):
    """200 runs a disturbance against a truth log. For a quiet machine."""
    section.build("release", "assay")
    section.check(PYTHON, "-B", "bench/innocence.py", "--rounds", 10)


def damages(section):
    """2,000 submission trees damaged at random: ours beside the official checker."""
    if python := peers_python(section):
        section.check(python, "-B", "-m", "pytest", "tests/peers/official_checker_test.py",
                      env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay"),
                           "ASSAY_DAMAGES": "2000"})


def own_packages(section, name):
    """The tests of a folder whose packages are large, in an environment of their own."""
    folder = ROOT / "tests" / name
    if python := python_with(section, folder / "requirements.txt", ROOT / "build" / name):
        section.build("release", "assay")
        section.check(python, "-B", "-m", "pytest", folder,
                      env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


def airflow(section):
    """Exported pipelines in the real Airflow."""
    own_packages(section, "airflow")


def servers(section):
    """Real servers with random weights, and a gateway, under our client."""
    own_packages(section, "servers")
    own_packages(section, "tensors")


def kills(section):
    """Hub, agent and pipeline killed at 100 places each: nothing is lost, nothing is doubled."""
    section.build("release", "assay")
    section.check(PYTHON, "-B", "-m", "pytest", "tests/e2e/sites_test.py",
                  "tests/e2e/pipeline_test.py", "-k", "killed_at",
                  env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay"),
                       "ASSAY_KILLS": "100"})


def container(section):
    """The image of the Containerfile, built by buildah and run; installs buildah where it can."""
    if not shutil.which("buildah"):
        root = [] if os.geteuid() == 0 else ["sudo"]
        section.must(*root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "buildah")
    section.build("release", "assay", "assay_python_columns")
    section.check(PYTHON, "-B", "-m", "pytest", "tests/container",
                  env={"ASSAY_BIN": str(ROOT / "build" / "release" / "assay")})


SMOKE = [tidy, instrument]
ALONE = [tidy, dev, release]
# Then these two rows at one time. The page is built before others use the program that has it.
ROWS = [[web, peers], [analyse, tsan, untimed, docs, package]]
GIVING_WAY = [analyse, tsan]
SECTIONS = ALONE + ROWS[0] + ROWS[1]
# What a section leaves in build/ that no later one reads: gigabytes, which CI's disk may not have.
LEAVES = {dev: "dev", tsan: "tsan", analyse: "clang", peers: "venv", docs: "docs"}
# Hours, not minutes: by name, or all after the others with `full`.
LONG = [fuzz_long, mutants, innocence, damages, airflow, kills, servers, container]


def faults(lines, most=40):
    """The lines of a log that say what failed, each with the few after it that say why."""
    out, left = [], 0
    for line in lines:
        if FAULT.search(line):
            left = 5
        if left > 0:
            out.append(line)
            left -= 1
    return out[:most]


def run_section(function, jobs, prefix=()):
    section = Section(function.__name__, jobs, prefix)
    start = time.monotonic()
    try:
        function(section)
    except Failed as fault:
        section.count.failed += 1
        section.say(f"{fault}\n")
    took = time.monotonic() - start
    count = section.count
    free = shutil.disk_usage(ROOT).free / 1e9
    print(f"{section.name:9} {count.passed:6} passed {count.failed:4} failed {took:7.0f} s"
          f"{free:9.1f} GB free", flush=True)
    if "CI" in os.environ and function in LEAVES:
        shutil.rmtree(ROOT / "build" / LEAVES[function], ignore_errors=True)
    if count.failed:
        lines = section.log.read_text().splitlines() if section.log.exists() else []
        print("\n".join([f"--- the end of {section.log.relative_to(ROOT)}", *lines[-40:],
                         "--- what failed", *faults(lines), "---"]), flush=True)
    return count


def run_all(functions, jobs):
    """The sections in order, the rows beside each other; compilers give way to tests."""
    rows = [[function for function in row if function in functions] for row in ROWS]
    in_rows = [function for row in rows for function in row]
    first = [function for function in functions if function in ALONE]
    last = [function for function in functions if function not in first + in_rows]

    def run_row(row):
        return [run_section(function, jobs,
                            ("nice", "-n", "5") if function in GIVING_WAY and all(rows) else ())
                for function in row]

    done = run_row(first)
    with concurrent.futures.ThreadPoolExecutor(len(rows)) as beside:
        for row in list(beside.map(run_row, rows)):
            done += row
    return done + run_row(last)


def wanted_of(args, parser, names):
    if args.changed:
        try:
            reached = changed.reached_since(ROOT, args.changed)
        except ValueError as error:
            parser.error(f"--changed: {error}")
        print(f"reached: {' '.join(sorted(reached.rooms)) or 'no room'}", flush=True)
        for path in reached.uncovered:
            print(f"not covered, but for tidy: {path}", flush=True)

        def rooms(section):
            quick(section, sorted(reached.rooms), reached.end_to_end)

        some = [rooms] if reached.rooms or reached.end_to_end else []
        return ([function for function in SECTIONS if function.__name__ in reached.sections]
                + some)
    if args.sections == ["smoke"]:
        return SMOKE
    if "full" in args.sections:
        return SECTIONS + LONG
    unknown = [name for name in args.sections if name not in names]
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are: {', '.join(names)}")
    wanted = args.sections or [function.__name__ for function in SECTIONS]
    return [function for function in [*SECTIONS, instrument, *LONG]
            if function.__name__ in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the sections' names")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="REF",
                        help="only what the changes since REF reach")
    args = parser.parse_args()
    names = [function.__name__ for function in [*SECTIONS, instrument, *LONG]]
    if args.list:
        print(*names, sep="\n")
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    functions = wanted_of(args, parser, names)
    done = run_all(functions, args.jobs)
    failed = sum(count.failed for count in done)
    print(f"{sum(count.passed for count in done)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
