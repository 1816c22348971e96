"""A gate for continuous integration: measure, compare with a stored baseline, tell the job.

    python -m assay.gate --baseline baselines/chat --folder measured -- \\
        --endpoint http://localhost:8000 --model m --rate 25 --duration 60s \\
        --require 'ttft_p95<=200ms'

What stands after -- are flags of `assay run`; those of `assay compare` are --metrics, --regression
and --strict. The folder gets the run, junit.xml (a case for each requirement and metric) and
summary.md. On GitHub the findings are annotations and summary.md is the job's summary. Without a
baseline the run is judged by its requirements; --store-baseline then makes it the baseline, if it
passed.

The exit code is the run's or, if that is 0, the comparison's: 5 worse, 6 not comparable, 4 the
client was limited (a busy runner: no verdict on the endpoint), 7 too many queries failed.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import sys
import xml.etree.ElementTree
from typing import List, Optional, Sequence, Tuple

from assay._figures import milliseconds
from assay._program import Done, call, words_of
from assay._run import Run

_MEANING = {0: "passed", 1: "findings", 2: "bad input", 3: "the endpoint can't be reached",
            4: "no verdict: the client was limited", 5: "worse", 6: "not comparable",
            7: "too many queries failed", 8: "out of memory or disk", 130: "interrupted"}


def annotation(level: str, text: str) -> str:
    """A line that GitHub shows beside the job; its own special characters are escaped."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title=assay::{escaped}"


def merge_junit(files: Sequence[pathlib.Path], out: pathlib.Path) -> None:
    """The test suites of several files in one; a file that is not there is left out."""
    suites = xml.etree.ElementTree.Element("testsuites")
    for path in files:
        if path.exists():
            root = xml.etree.ElementTree.parse(path).getroot()
            suites.extend([root] if root.tag == "testsuite" else list(root))
    xml.etree.ElementTree.ElementTree(suites).write(out, encoding="utf-8", xml_declaration=True)


def measure(folder: pathlib.Path, run_flags: Sequence[str]) -> Tuple[Done, pathlib.Path]:
    junit = folder / "requirements.xml"
    more = [f"--junit={junit}"] if any(flag.startswith("--require") for flag in run_flags) else []
    run = folder / "run"
    return call(["run", *run_flags, *more, f"--report-dir={run}", "--json", "--quiet"]), run


def compare(folder: pathlib.Path, baseline: pathlib.Path, run: pathlib.Path,
            flags: Sequence[str]) -> Done:
    github = ["--github"] if os.environ.get("GITHUB_ACTIONS") == "true" else []
    return call(["compare", *flags, *github, f"--junit={folder / 'comparison.xml'}", "--",
                 str(baseline), str(run)])


def summary(run: pathlib.Path, code: int, compared: Optional[Done]) -> str:
    """Markdown for a job's page."""
    lines = [f"## Assay: {_MEANING.get(code, f'exit code {code}')}", ""]
    if (run / "performance" / "result_summary.json").exists():
        figures = Run(run).summary
        lines += ["| | P50 | P90 | P99 |", "|---|---|---|---|"]
        for name, figure in (("TTFT", figures.ttft), ("TPOT", figures.tpot),
                             ("latency", figures.latency)):
            if figure:
                shown = " | ".join(milliseconds(figure.p(p)) for p in (50, 90, 99))
                lines.append(f"| {name} | {shown} |")
        lines += ["", f"{figures.completed:,} of {figures.issued:,} queries completed."]
    if compared is not None:
        lines += ["", "```", compared.out.strip() or words_of(compared.err), "```"]
    return "\n".join(lines) + "\n"


def report(folder: pathlib.Path, text: str) -> None:
    (folder / "summary.md").write_text(text, encoding="utf-8")
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if page:
        with open(page, "a", encoding="utf-8") as file:
            file.write(text)


def main(words: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m assay.gate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", type=pathlib.Path, required=True,
                        help="the folder of a run; it need not exist yet")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("assay-gate"),
                        help="where everything of this run goes (default assay-gate)")
    parser.add_argument("--store-baseline", action="store_true",
                        help="a run that passes becomes the baseline, where there is none")
    parser.add_argument("--metrics", help="of the comparison: ttft_p50,tpot_p90,system_tps, …")
    parser.add_argument("--regression", help="percent of harm that is no regression")
    parser.add_argument("--strict", action="store_true",
                        help="5 also where it is not shown that the run is no worse")
    parser.add_argument("run_flags", nargs=argparse.REMAINDER, help="after --: of `assay run`")
    args = parser.parse_args(words)
    run_flags = args.run_flags[1:] if args.run_flags[:1] == ["--"] else args.run_flags
    args.folder.mkdir(parents=True, exist_ok=True)
    if (args.folder / "run").exists():
        parser.error(f"{args.folder} holds a run already; name another --folder")

    done, run = measure(args.folder, run_flags)
    sys.stderr.write(done.err)
    code, compared = done.code, None
    if code == 0 and args.baseline.exists():
        flags = [f"--{name}={value}" for name, value in
                 (("metrics", args.metrics), ("regression", args.regression)) if value]
        compared = compare(args.folder, args.baseline, run,
                           flags + (["--strict"] if args.strict else []))
        print(compared.out, end="")
        sys.stderr.write(compared.err)
        code = compared.code
    elif code == 0 and args.store_baseline:
        shutil.copytree(run, args.baseline)
        print(f"stored the baseline {args.baseline}")
    elif code == 0:
        print(f"no baseline {args.baseline}: judged by its requirements alone")
    if code and os.environ.get("GITHUB_ACTIONS") == "true":
        words_said = words_of((compared or done).err) or _MEANING.get(code, "")
        print(annotation("warning" if code == 4 else "error", words_said))
    merge_junit([args.folder / "requirements.xml", args.folder / "comparison.xml"],
                args.folder / "junit.xml")
    report(args.folder, summary(run, code, compared))
    return code


if __name__ == "__main__":
    sys.exit(main())
