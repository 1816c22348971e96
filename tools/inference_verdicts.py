#!/usr/bin/env python3
"""The official submission checker's verdicts on the tests' trees of MLPerf Inference.

    tools/inference_verdicts.py INFERENCE_GIT > tests/data/inference_verdicts.json

Takes the checker out of a git directory of github.com/mlcommons/inference, runs it on the valid
tree ("") and on each damage of tests/inference_tree.py, and writes its exit codes. It needs PyYAML.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import inference_tree  # noqa: E402

PLACE = "tools/submission/submission_checker"


def official_checker(git, work):
    """The checker, unpacked into `work`: a function of a tree that returns its exit code."""
    work.mkdir()
    archive = subprocess.run(["git", "-C", git, "archive", "HEAD", PLACE], check=True,
                             capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", work], input=archive, check=True)

    def verdict(root):
        return subprocess.run(
            [sys.executable, "-B", "-m", "submission_checker.main", "--input", root,
             "--version", "v6.1", "--csv", work / "summary.csv"], check=False,
            capture_output=True, cwd=work / PLACE / "..").returncode

    return verdict


def main():
    git = sys.argv[1]
    commit = subprocess.run(["git", "-C", git, "rev-parse", "HEAD"], check=True,
                            capture_output=True, text=True).stdout.strip()
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        valid = inference_tree.write(work / "valid")
        verdict = official_checker(git, work / "checker")
        out[""] = verdict(valid)
        for name, (damage, _) in inference_tree.DAMAGES.items():
            root = shutil.copytree(valid, work / "damaged")
            damage(root)
            out[name] = verdict(root)
            shutil.rmtree(root)
    json.dump({"source": f"mlcommons/inference {commit} {PLACE}", "verdicts": out}, sys.stdout,
              indent=1)
    print()


if __name__ == "__main__":
    main()
