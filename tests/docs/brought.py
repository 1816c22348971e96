"""What the reader of a page brings, where no command of the page makes it: {page: function of the
folder in which its commands run}."""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import inference_tree  # noqa: E402

# The results sites' columns, with figures that nobody measured.
TABLE = """Organization,SystemName,MlperfModel,Scenario,Result,Units,version
Invented,Box,deepseek-r1,Offline,1000,Tokens/s,v6.0
Invented,Box,deepseek-r1,Offline,1700,Tokens/s,v6.1
"""


def submission_to_inference(folder):
    """A tree, the same as two rounds, and the logs of one result before they are packed."""
    tree = inference_tree.write(folder / "submission") / "closed" / "Invented"
    for edition in ("v6.0", "v6.1"):
        shutil.copytree(folder / "submission", folder / "rounds" / edition)
    result = tree / "results" / "box" / "resnet" / "Offline"
    shutil.copytree(result / "performance" / "run_1", folder / "logs" / "offline")
    shutil.copytree(result / "accuracy", folder / "logs" / "offline-accuracy")
    shutil.copytree(tree / "src", folder / "code")
    shutil.copy(tree / "systems" / "box.json", folder / "system.json")
    shutil.copy(result / "user.conf", folder)
    shutil.copy(result / "README.md", folder / "readme.md")
    (folder / "summary.csv").write_text(TABLE, encoding="utf-8")


BROUGHT = {"docs/guide/inference_submission.md": submission_to_inference}
