"""`python -m assay.gate` and the CI templates that call it, as a runner would run them."""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN", "build/release/assay")).resolve()
RUN = ["--model", "m", "--concurrency", "4", "--samples", "80", "--allow-client-limited"]


def environment(tmp_path, **more):
    """A runner's, in which `python` is this one and the package is found."""
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    if not (tools / "python").exists():
        (tools / "python").symlink_to(sys.executable)
    return {**os.environ, "ASSAY_BIN": str(PROGRAM), "PYTHONPATH": str(PROGRAM.with_name("python")),
            "PATH": f"{tools}:{os.environ['PATH']}", **more}


def gate(tmp_path, *words, **more):
    return subprocess.run([sys.executable, "-m", "assay.gate", *map(str, words)],
                          capture_output=True, text=True, cwd=tmp_path, check=False,
                          env=environment(tmp_path, **more))


def cases(path):
    return list(xml.etree.ElementTree.parse(path).iter("testcase"))


def test_a_first_run_becomes_the_baseline_and_the_next_is_compared(endpoint, tmp_path):
    run = ["--", "--endpoint", endpoint("--ttft", "2ms", "--itl", "500us").url, *RUN]
    first = gate(tmp_path, "--baseline", "base", "--folder", "a", "--store-baseline", *run)
    assert first.returncode == 0, first.stderr
    assert (tmp_path / "base" / "assay" / "events-0.alog").exists()
    page = tmp_path / "page.md"
    second = gate(tmp_path, "--baseline", "base", "--folder", "b", "--metrics", "ttft_p50", *run,
                  GITHUB_STEP_SUMMARY=str(page))
    # The verdict is compare's own, whatever this machine made of the two runs.
    told = subprocess.run([PROGRAM, "compare", "base", "b/run", "--metrics", "ttft_p50"],
                          capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (second.returncode, second.stdout) == (told.returncode, told.stdout)
    assert page.read_text() == (tmp_path / "b" / "summary.md").read_text()
    assert "| TTFT |" in page.read_text() and "80 of 80" in page.read_text()
    if told.returncode in (0, 5):
        assert len(cases(tmp_path / "b" / "junit.xml")) == 1


def test_a_requirement_that_is_not_met_fails_the_job_and_stores_nothing(endpoint, tmp_path):
    run = ["--", "--endpoint", endpoint("--ttft", "1ms").url, *RUN,
           "--require", "ttft_p50<=1ns,failed<=0%"]
    done = gate(tmp_path, "--baseline", "base", "--store-baseline", *run, GITHUB_ACTIONS="true")
    assert done.returncode == 5
    assert not (tmp_path / "base").exists()
    found = cases(tmp_path / "assay-gate" / "junit.xml")
    assert len(found) == 2
    assert [case.find("failure") is not None for case in found].count(True) == 1
    assert any(line.startswith("::error title=assay::") for line in done.stdout.splitlines())


def test_what_cannot_be_measured_says_why(tmp_path):
    done = gate(tmp_path, "--baseline", "base", "--", "--endpoint", "http://127.0.0.1:1", *RUN)
    assert done.returncode == 3 and "127.0.0.1:1" in done.stderr
    typo = gate(tmp_path, "--baseline", "base", "--folder", "b", "--", "--concurency", "3")
    assert typo.returncode == 2 and "did you mean" in typo.stderr


def test_an_annotation_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from assay.gate import annotation\n"
         "print(annotation('error', 'a 5 %\\nb::warning::c'))"], capture_output=True, text=True,
        check=True, env=environment(tmp_path))
    assert done.stdout == "::error title=assay::a 5 %25%0Ab::warning::c\n"


def script_of(lines):
    return "\n".join(line for line in lines if "pip install" not in line)


def test_the_templates_run_the_gate_as_a_shell_does(endpoint, tmp_path):
    url = endpoint("--ttft", "1ms").url
    said = f"--endpoint {url} {' '.join(RUN)} --header 'X-Two: a b'"
    action = yaml.safe_load((ROOT / "packaging" / "ci" / "action.yml").read_text())
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    assert len(steps) == 1
    gitlab = yaml.safe_load((ROOT / "packaging" / "ci" / "gitlab.yml").read_text())[".assay-gate"]
    # What stands in a template's text is only its own variables: no input is pasted into a shell.
    assert "${{" not in steps[0]["run"]
    for name, script, variables in [
            ("action", script_of(steps[0]["run"].splitlines()),
             {"BASELINE": "base", "GATE": "--metrics ttft_p50", "RUN": said}),
            ("gitlab", script_of(gitlab["script"]),
             {"ASSAY_BASELINE": "base", "ASSAY_GATE": "--metrics ttft_p50", "ASSAY_RUN": said})]:
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True,
                              cwd=folder, check=False, env=environment(tmp_path, **variables))
        assert done.returncode == 0, done.stderr
        assert (folder / "base" / "assay" / "events-0.alog").exists()
        # One word with a space in it, as the shell of a person would have passed it.
        assert "X-Two: a b\n" in (folder / "assay-gate" / "run" / "config.yaml").read_text()
